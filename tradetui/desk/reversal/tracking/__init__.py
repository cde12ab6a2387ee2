"""Finds the outcome of a reversal: reads the account, classifies the observation, repeats until it is settled.

`order_reads` reads into an `observation`, `own_legs` says which orders count as ours, `classification` judges,
`outcome_tracker` repeats, `followed_reversals` tells whoever waits. It sends nothing; sending and execution look in.
"""
