"""Records that are read again and again, and published as immutable snapshots.

In it: one reader for each kind of record, `fills` with their gaps; `polling`, by which all are read, and
`archive_writing`, by which they are kept. It looks at tables and the archive; the reversal takes its positions from
here.
"""
