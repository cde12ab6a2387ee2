"""Between a command and the system: flags, standard streams, exit codes, the log, and the hiding of secrets.

It knows no exchange and no account; `cli` and every command use it.
"""
