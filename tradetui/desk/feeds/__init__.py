"""Records that are read again and again, and published as immutable snapshots.

In it: one reader for each kind of record, `fills` with their gaps, `bills`, and `polling`, by which all are read. It
looks at tables and the archive; the reversal takes its positions from here.
"""
