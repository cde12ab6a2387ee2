"""Text for people and programs: what came from outside made safe to show, counts with their noun, rows of CSV.

`scrub` is the one way from the exchange to a terminal, a message or a log line.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say; importing it is a tenth of what --help may take
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

REPLACEMENT: Final = "�"

# Zero-width or blank although their category says letter or mark: grapheme joiner, Hangul and Khmer fillers,
# Mongolian and other variation selectors.
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
    """The text with every control, bidi and zero-width character, newline and tab included, as U+FFFD.

    One character stays one character, so that widths and positions stay the same.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if _is_unsafe(character) else character for character in text)


def escaped(text: str, *, only_ascii: bool = False) -> str:
    """The text with the characters that `scrub` replaces as visible JSON escapes: U+202E as `\\u202e`.

    JSON text stays the same value, because these characters stand only within its strings. `only_ascii` escapes
    everything else that is not ASCII as well.
    """
    if text.isascii() and text.isprintable():
        return text
    import json  # --help comes without it

    return "".join(
        json.dumps(character)[1:-1] if _is_unsafe(character) or (only_ascii and not character.isascii()) else character
        for character in text
    )


def _is_unsafe(character: str) -> bool:
    import unicodedata  # a large library, which plain ASCII never needs and --help comes without

    return unicodedata.category(character) in _UNSAFE_CATEGORIES or character in _INVISIBLE


def counted(count: int, noun: str) -> str:
    """`1 row`, `2,000 rows`: the count with thousands grouped, and a regular noun in its number."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def shown_of(shown: int, count: int) -> str:
    """`12/2,000` where only some are shown, else the count of all: `2,000`."""
    return f"{count:,}" if shown == count else f"{shown:,}/{count:,}"


def csv_row(cells: Iterable[str]) -> str:
    """The cells as one row with its line break; one of no cells is a quoted nothing: readers skip blank lines."""
    return (",".join(map(_quoted, cells)) or '""') + "\n"


def _quoted(cell: str) -> str:
    # csv.writer leaves a lone carriage return unquoted, at which readers end the row.
    if any(mark in cell for mark in '",\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
