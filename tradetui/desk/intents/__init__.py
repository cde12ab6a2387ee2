"""What an account was asked to do: each step is on disk before it is taken.

In it: the journal with its hash chain, the registry that locks a symbol for the whole account, the trading lock.
It stands on storage alone; whatever sends goes through it.
"""
