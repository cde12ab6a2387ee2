"""Themes: dark, light, the terminal's own colours, one for colour-blind eyes, and red for rising markets.

One colour means one thing: `gain` and `loss` are a result, `long` and `short` a direction, `warn` asks for attention,
the theme's `error` is danger (live money, a refusal, the button that sends), and its `primary` what can be pressed. On
a terminal of sixteen colours, each of the seven still has its own colour, and is never white.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.theme import Theme

from tradetui.desk.tables.cells.column import Tone
from tradetui.ui.terminal.drawn_once import TerminalAbilities

DEFAULT_THEME: Final = "tradetui-dark"
TERMINAL_THEME: Final = "tradetui-terminal"
_GREEN: Final = "#8bd96a"
_RED: Final = "#f7768e"
TONE_STYLES: Final[Mapping[str, str]] = {
    Tone.PLAIN: "$foreground",
    Tone.MUTED: "$quiet",
    Tone.GAIN: "$gain",
    Tone.LOSS: "$loss",
    Tone.LONG: "$long",
    Tone.SHORT: "$short",
    Tone.WARN: "$warn",
}
"""The theme's colours by the meaning of a figure."""
CURSOR_STYLE: Final = "bold on $cursor"
REVERSED_CURSOR_STYLE: Final = "reverse"  # used if no background of ours is known to be visible under every colour


def _dark(
    name: str,
    *,
    gain: str,
    loss: str,
    long: str = "#4fc3e8",
    short: str = "#d58cff",
    warn: str = "#e8b339",
    danger: str = "#f04b00",
) -> Theme:
    return Theme(
        name=name,
        primary="#6685ff",
        secondary="#9d7cd8",
        warning=warn,
        error=danger,
        foreground="#c0caf5",
        background="#16161e",
        surface="#1a1b26",
        panel="#24283b",
        dark=True,
        variables={
            "gain": gain,
            "loss": loss,
            "long": long,
            "short": short,
            "warn": warn,
            "quiet": "#868eb8",
            "frame": "#3b4261",
            "cursor": "#24283b",
            "cursor-cell": "#2f3549",
            "button-color-foreground": "#16161e",  # Textual's own white is hard to read on these
        },
    )


THEMES: Final = (
    _dark(DEFAULT_THEME, gain=_GREEN, loss=_RED),
    _dark("tradetui-red-up", gain=_RED, loss=_GREEN),
    _dark(
        "tradetui-colour-blind",
        gain="#56b4e9",
        loss="#e69f00",
        long="#2fc79a",
        short="#e270b3",
        warn="#f0e442",
        danger="#ff2d4b",
    ),
    Theme(
        name="tradetui-light",
        primary="#0b7285",
        secondary="#6f42c1",
        warning="#8a5a00",
        error="#be3c82",
        foreground="#24292f",
        background="#f6f8fa",
        surface="#ffffff",
        panel="#dde3ea",
        dark=False,
        variables={
            "gain": "#06731a",
            "loss": "#b42318",
            "long": "#0a5fc2",
            "short": "#8b2fd0",
            "warn": "#8a5a00",
            "quiet": "#636c76",
            "frame": "#c3cbd5",
            "cursor": "#e8edf3",
            "cursor-cell": "#dbe3ec",
            "button-color-foreground": "#f6f8fa",
        },
    ),
    Theme(
        name=TERMINAL_THEME,
        # Unchanged: otherwise Textual converts them to its own colours.
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_magenta",
        warning="ansi_yellow",
        error="ansi_bright_red",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_bright_black",
        dark=True,
        variables={
            # Textual's own styles need these from a theme in the terminal's colours.
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-background": "ansi_blue",
            "input-cursor-background": "ansi_default",
            "input-cursor-foreground": "ansi_default",
            "input-cursor-text-style": "reverse",
            "input-selection-background": "ansi_blue",
            "input-selection-foreground": "ansi_black",
            "screen-selection-background": "ansi_blue",
            "screen-selection-foreground": "ansi_black",
            "gain": "ansi_green",
            "loss": "ansi_red",
            "long": "ansi_cyan",
            "short": "ansi_magenta",
            "warn": "ansi_yellow",
            "quiet": "ansi_bright_black",
            "frame": "ansi_bright_black",
            "cursor": "ansi_default",
            "cursor-cell": "ansi_default",
        },
    ),
)


def theme_named(name: str | None) -> str | None:
    """The full name of a theme, also without our prefix; None if there is none."""
    names = {theme.name for theme in THEMES}
    return next((theme for theme in (name, f"tradetui-{name}") if theme in names), None)


def first_theme(of_profile: str | None, chosen: str | None, terminal: TerminalAbilities) -> str:
    """The full name of the theme at the start: the one `chosen` on the screen before, or the profile's, or ours.

    A terminal of sixteen colours keeps its own palette unless the profile names a theme: the choice on the screen may
    have been made on another terminal.
    """
    named = theme_named(of_profile)
    if not terminal.has_256_colours:
        return named or TERMINAL_THEME
    return theme_named(chosen) or named or DEFAULT_THEME
