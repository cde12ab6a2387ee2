"""Replaces every character outside ASCII by one that every terminal has, cell for cell, if the locale is not UTF-8."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_LIKENESSES: Final = {
    ">": "…→▸",
    "<": "←◂",
    "^": "↑▲",
    "v": "↓▼✓",
    "*": "●•",
    "o": "○",
    "x": "✗×■",
    "-": "·—–−□─━",
    "/": "÷╱",
    "\\": "╲",
    ".": "╌",
    "|": "│┃",
    "+": "╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛╔╗╚╝",
    " ": "▔▁▂▃▅▆▇▊▎▌▐▕▏█▀▄",
}
_BY_CODE_POINT: Final = {ord(drawn): likeness for likeness, family in _LIKENESSES.items() for drawn in family}


def ascii_cells(text: str) -> str:
    """The text in as many cells of ASCII; a character without a likeness becomes one question mark per cell."""
    if text.isascii():
        return text
    likeness = text.translate(_BY_CODE_POINT)
    if likeness.isascii():
        return likeness
    return "".join(character if character.isascii() else "?" * cell_len(character) for character in likeness)


class AsciiFilter(LineFilter):
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(ascii_cells(text), style, control) for text, style, control in segments]
