"""Widgets in the theme's colours alone, whose lines need no translation."""

from __future__ import annotations

from collections.abc import Sequence

from textual.filter import ANSIToTruecolor, LineFilter
from textual.widget import Widget


class TrueColours(Widget):
    """A widget that draws in true colours, none of them dimmed.

    Textual would keep a second strip of each of its lines, with colours that were translated to themselves.
    """

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [
            line_filter for line_filter in super().get_line_filters() if not isinstance(line_filter, ANSIToTruecolor)
        ]
