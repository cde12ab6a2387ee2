"""The columns of every record, one file a record; `trade_columns` has those of several.

A table's own list is what it shows when nobody chose; `every_field` beside this room adds every other field of the
interface. Nothing here imports a model.
"""
