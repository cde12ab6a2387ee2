"""The columns of every record: one file a panel's record, `lookups` for all that is looked up beside the futures.

`trade_columns` has those of several records.

A table's own list is what it shows when nobody chose; `every_field` beside this room adds every other field of the
interface. Nothing here imports a model.
"""
