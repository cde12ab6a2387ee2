"""Text for people and programs: outside text made safe to show, counts with their noun, rows of CSV.

Every text of the exchange goes through `scrub` to a terminal, a message or a log line.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, whose import takes a tenth of the time of --help
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

REPLACEMENT: Final = "�"

# Zero-width or blank although their category is letter or mark: grapheme joiner, Hangul and Khmer fillers, Mongolian
# and other variation selectors.
_INVISIBLE: Final = frozenset(
    chr(code)
    for code in (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
# Controls, format characters (bidi and zero-width among them), lone surrogates, unassigned, line separators.
_UNSAFE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})


def scrub(text: str) -> str:
    """Replace every control, bidi and zero-width character, including newline and tab, by U+FFFD.

    One character stays one character, so that widths and positions stay the same.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if _is_unsafe(character) else character for character in text)


def uid_tail(uid: str) -> str:
    """Return the last four digits of a UID, which distinguish accounts beside their names."""
    return uid[-4:]


def escaped(text: str, *, only_ascii: bool = False) -> str:
    """Write the characters that `scrub` replaces as visible JSON escapes: U+202E as `\\u202e`.

    JSON text keeps its value, because these characters only occur within its strings. `only_ascii` also escapes all
    other characters that are not ASCII.
    """
    if text.isascii() and text.isprintable():
        return text
    import json  # --help does not import it

    return "".join(
        json.dumps(character)[1:-1] if _is_unsafe(character) or (only_ascii and not character.isascii()) else character
        for character in text
    )


def _is_unsafe(character: str) -> bool:
    import unicodedata  # large; not needed for plain ASCII or --help

    return unicodedata.category(character) in _UNSAFE_CATEGORIES or character in _INVISIBLE


def counted(count: int, noun: str) -> str:
    """Write a count with its noun, `1 row`, `2,000 rows`: thousands grouped, a regular plural."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def shown_of(shown: int, count: int) -> str:
    """Write `12/2,000` if only some are shown, else the count of all: `2,000`."""
    return f"{count:,}" if shown == count else f"{shown:,}/{count:,}"


def csv_row(cells: Iterable[str]) -> str:
    """Write the cells as one CSV row with its line break; no cells give `""`, since readers skip blank lines."""
    return (",".join(map(_quoted, cells)) or '""') + "\n"


def _quoted(cell: str) -> str:
    # csv.writer does not quote a lone carriage return, where readers end the row.
    if any(mark in cell for mark in '",\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
