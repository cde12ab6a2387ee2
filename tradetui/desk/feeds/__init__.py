"""Readers that poll records again and again and publish them as immutable snapshots.

There is one reader per kind of record. `fills` reads fills and their gaps, `polling` schedules all readers, and
`archive_writing` writes their rows to the archive. Feeds use tables and the archive; the reversal takes its positions
from them.
"""
