"""Finds the outcome of a reversal: reads the account, decides what that proves, repeats until it is settled.

`order_reads` makes an `Observation`, `own_legs` finds the fills that count as ours, `evidence` classifies them, and
`outcome_tracker` repeats this and publishes the progress. Nothing is sent here.
"""
