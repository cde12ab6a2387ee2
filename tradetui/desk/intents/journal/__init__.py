"""The journal of intents: each step is on the disk before it is taken, chained so that none is lost unseen.

`journal` is one account's file, `schema` its tables with their hash chain, `journal_registry` what is open in any
journal of the user; `registered_journal` keeps both in step. It sends nothing; `intents` beside this room opens it.
"""
