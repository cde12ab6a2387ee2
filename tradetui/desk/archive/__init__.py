"""Fills and trigger orders that outlive the exchange's window and the program.

In it: the SQLite database that writes, the rows it keeps as they are read and as a table's source, and the buffer that
waits while the disk cannot be written.
It looks at tables only; feeds write into it and the history screen reads it.
"""
