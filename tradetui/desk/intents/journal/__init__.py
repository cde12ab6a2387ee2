"""The journal of intents: each step is on disk before it is taken, and a hash chain shows any loss.

`journal` is one account's file and its hash chain, `journal_registry` lists the open scopes in all journals of the
user, `registered_journal` keeps both in step. The package sends nothing; `intents` beside it opens it.
"""
