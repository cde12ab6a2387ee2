"""The columns of every record: title, unit, exact text, how it sorts, and what its sign means.

`table.TABLES` says which a table shows when nobody chose; `every_column(table)` of `every_field` adds every other field
of the interface. Nothing here but `every_field` imports a model.
"""

from tradetui.desk.tables.columns.cell_format import DEFAULT_FORMAT, CellFormat, Precision
from tradetui.desk.tables.columns.column import (
    UNRANKED,
    UNREADABLE_MARK,
    Column,
    Tone,
    id_column,
    number_column,
    ranked,
    text_column,
    time_column,
    tone_of,
)
from tradetui.desk.tables.number_format import UNKNOWN, moment, number, percent, text_as_given

__all__ = [
    "DEFAULT_FORMAT",
    "UNKNOWN",
    "UNRANKED",
    "UNREADABLE_MARK",
    "CellFormat",
    "Column",
    "Precision",
    "Tone",
    "id_column",
    "moment",
    "number",
    "number_column",
    "percent",
    "ranked",
    "text_as_given",
    "text_column",
    "time_column",
    "tone_of",
]
