"""Rows and columns of every table, without a screen.

In it: the registry of tables (`table`), the row-source protocol, product rows, columns with their exact text, number
formats, export to files.
It looks at nothing else of the desk; everything that shows rows looks in.
"""
