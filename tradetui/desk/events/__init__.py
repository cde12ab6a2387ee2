"""Events of the account for scripts, each with an id from which whoever reads them can go on after a kill or a restart.

`event_log` keeps them in the archive, in the order in which they were noticed, each once, and compares the
pending orders with what they were; `journal_steps` reads outcomes from the journal, which it never writes. The door is
`event_stream`, which follows a desk.
"""
