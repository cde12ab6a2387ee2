"""Between a command and the system: flags, standard streams, exit codes, the log, secrets kept out of both.

It knows no exchange and no account; `cli` and every command look in.
"""
