"""Fills and trigger orders that outlive the exchange's window and the program.

In it: the SQLite database, its rows as a table's source, and the buffer that waits while the disk cannot be written.
It looks at tables only; feeds write into it and the history screen reads it.
"""
