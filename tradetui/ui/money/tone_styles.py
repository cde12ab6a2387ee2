"""The theme's colours for what a figure or a piece of a chart means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.desk.tables.cells.column import Tone
from tradetui.ui.money.charts.chart import ChartInk

TONE_STYLES: Final[Mapping[Tone, str]] = {
    Tone.PLAIN: "$foreground",
    Tone.MUTED: "$quiet",
    Tone.GAIN: "$gain",
    Tone.LOSS: "$loss",
    Tone.LONG: "$long",
    Tone.SHORT: "$short",
    Tone.WARN: "$warn",
}
INK_STYLES: Final[Mapping[ChartInk, str]] = {
    ChartInk.AXIS: "$quiet",
    ChartInk.CURVE: "$primary",
    ChartInk.GAIN: "$gain",
    ChartInk.LOSS: "$loss",
}
CURSOR_STYLE: Final = "bold on $cursor"
REVERSED_CURSOR_STYLE: Final = "reverse"
"""Where no background of ours is known to be seen under every colour."""
