"""Themes: dark, light, the terminal's own colours, one for colour-blind eyes, and red for rising markets."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

DEFAULT_THEME: Final = "tradetui-dark"


def _dark(name: str, *, gain: str, loss: str, good: str = "#9ece6a", bad: str = "#f7768e") -> Theme:
    return Theme(
        name=name,
        primary="#7aa2f7",
        secondary="#9d7cd8",
        accent="#7dcfff",
        warning="#e0af68",
        error=bad,
        success=good,
        foreground="#c0caf5",
        background="#16161e",
        surface="#1a1b26",
        panel="#24283b",
        dark=True,
        variables={
            "gain": gain,
            "loss": loss,
            "long": gain,
            "short": loss,
            "warn": "#e0af68",
            "quiet": "#7880a8",
            "frame": "#3b4261",
        },
    )


THEMES: Final = (
    _dark(DEFAULT_THEME, gain="#9ece6a", loss="#f7768e"),
    _dark("tradetui-red-up", gain="#f7768e", loss="#9ece6a"),
    _dark("tradetui-colour-blind", gain="#56b4e9", loss="#e69f00", good="#56b4e9", bad="#e69f00"),
    Theme(
        name="tradetui-light",
        primary="#2e5aac",
        secondary="#6f42c1",
        accent="#0b7285",
        warning="#9a6700",
        error="#b42318",
        success="#176f2c",
        foreground="#24292f",
        background="#f6f8fa",
        surface="#ffffff",
        panel="#dde3ea",
        dark=False,
        variables={
            "gain": "#176f2c",
            "loss": "#b42318",
            "long": "#176f2c",
            "short": "#b42318",
            "warn": "#9a6700",
            "quiet": "#6e7781",
            "frame": "#c3cbd5",
        },
    ),
    Theme(
        name="tradetui-terminal",
        # As they are: otherwise Textual turns them into its own idea of these colours.
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_magenta",
        accent="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_bright_black",
        dark=True,
        variables={
            # Textual's own styles ask for these of a theme in the terminal's colours.
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
            "long": "ansi_green",
            "short": "ansi_red",
            "warn": "ansi_yellow",
            "quiet": "ansi_bright_black",
            "frame": "ansi_bright_black",
        },
    ),
)


def theme_named(name: str | None) -> str | None:
    """The full name of a theme that may be called without our own name before it; None where there is none."""
    names = {theme.name for theme in THEMES}
    return next((theme for theme in (name, f"tradetui-{name}") if theme in names), None)
