"""The intents of an account: each step is on disk before it is taken.

In it: the journal with its hash chain, the registry that locks a symbol for the whole account, the trading lock. It
stands on storage alone; every request that trades goes through it.
"""
