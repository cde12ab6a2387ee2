"""Each fill counted once: quarter-hours, closing orders and round trips, booked as fills come into the archive.

`ledger` books, in the order in which fills stand in time; the rest is what it books from and into, and which fills
are missing.
The database opens it with the archive; whoever reads its figures looks in.
"""
