"""Finds the outcome of a reversal: reads the account, decides what that proves, repeats until it is settled.

`order_reads` reads into an `observation`, `own_legs` says which orders count as ours, `evidence` decides what is
proven, `outcome_tracker` repeats, `followed_reversals` tells whoever waits. Nothing is sent here.
"""
