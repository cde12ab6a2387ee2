"""The columns of every record: title, unit, exact text, how it sorts, and what its sign means.

`table.TABLES` says which a table shows when nobody chose; `every_column(table)` of `every_field` adds every other field
of the interface. Nothing here but `every_field` imports a model.
"""

from tradetui.desk.tables.columns.column import (
    UNREADABLE_MARK,
    UTC_ZONE,
    Column,
    Tone,
    id_column,
    number_column,
    text_column,
    time_column,
    tone_of,
)
from tradetui.desk.tables.number_format import UNKNOWN, moment, number, percent, text_as_given

__all__ = [
    "UNKNOWN",
    "UNREADABLE_MARK",
    "UTC_ZONE",
    "Column",
    "Tone",
    "id_column",
    "moment",
    "number",
    "number_column",
    "percent",
    "text_as_given",
    "text_column",
    "time_column",
    "tone_of",
]
