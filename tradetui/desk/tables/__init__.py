"""Rows and columns of every table, without a screen.

In it: the registry of tables (`table`), `rows` and their sources, `columns` with their `cells`, sums and the export.
It looks at nothing else of the desk; everything that shows rows looks in.
"""
