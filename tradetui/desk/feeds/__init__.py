"""What is read again and again, and published as immutable snapshots.

In it: the feed and its scheduler, one reader for each kind of record, the gaps in fills, the health of the session.
It looks at tables and the archive; the reversal takes its positions from here.
"""
