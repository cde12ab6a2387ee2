"""CSV as text: one row of cells, quoted where a reader would otherwise see another row or cell."""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say; importing it is a tenth of what --help may take
if TYPE_CHECKING:
    from collections.abc import Iterable


def csv_row(cells: Iterable[str]) -> str:
    """The cells as one row with its line break; one of no cells is a quoted nothing: readers skip blank lines."""
    return (",".join(map(_quoted, cells)) or '""') + "\n"


def _quoted(cell: str) -> str:
    # csv.writer leaves a lone carriage return unquoted, at which readers end the row.
    if any(mark in cell for mark in '",\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
