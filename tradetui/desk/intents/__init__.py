"""The intents of an account: each step is on disk before it is taken.

The package holds the journal with its hash chain, the registry that locks a symbol for the whole account, and the
trading lock. It uses storage alone; every request that trades goes through it.
"""
