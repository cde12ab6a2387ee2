"""What a column is: its title, unit, exact text, how it sorts, what its sign means, and how figures are written.

`column` is any column, `figure_columns` those of money, prices and sizes, `number_format` and `cell_format` the text.
Nothing here imports a model; whoever shows or makes a column looks in.
"""

from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat, Precision
from tradetui.desk.tables.cells.column import (
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
from tradetui.desk.tables.cells.number_format import UNKNOWN, moment, number, percent, text_as_given

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
