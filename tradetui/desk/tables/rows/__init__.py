"""What stands in a table: records under their product type, fills gathered by order, and sources of them.

`row_source` is the protocol by which tables take, order and narrow rows; `date_filter` narrows them by time and symbol.
It looks at nothing else of the desk; feeds and the archive make rows, and whoever shows them looks in.
"""
