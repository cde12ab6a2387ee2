"""Themes: every one says all it has to, can be read, and keeps to the terminal's colours, or to none, where asked."""

from __future__ import annotations

import colorsys
import re
import sys
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

import tradetui.ui
from tests.bench.terminal import Terminal
from tradetui.ui.themes import DEFAULT_THEME, THEMES

BY_NAME = {theme.name: theme for theme in THEMES}
EXACT = [theme for theme in THEMES if not theme.ansi]
MEANINGS = ("gain", "loss", "long", "short", "warn", "quiet", "frame")
COLOURED = re.compile(rb"\x1b\[[0-9;]*\b(?:38|48|3[0-7]|4[0-7]|9[0-7]|10[0-7])\b[0-9;]*m")
EXACT_COLOUR = re.compile(rb"\x1b\[[0-9;]*\b(?:38|48);[25];")
ROOM = Path(tradetui.ui.__file__).parent


def named(theme: Theme) -> str:
    return theme.name


def contrast(one: str, other: str) -> float:
    """As the accessibility guidelines reckon it: 1 to 21."""

    def light(colour: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in Color.parse(colour).normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_there_is_one_for_everybody() -> None:
    assert set(BY_NAME) == {f"tradetui-{name}" for name in ("dark", "light", "terminal", "colour-blind", "red-up")}
    assert DEFAULT_THEME == "tradetui-dark"
    assert not BY_NAME["tradetui-light"].dark


@pytest.mark.parametrize("theme", THEMES, ids=named)
def test_every_meaning_has_a_colour(theme: Theme) -> None:
    assert set(MEANINGS) <= set(theme.variables)
    assert theme.variables["gain"] != theme.variables["loss"]
    assert theme.variables["long"] != theme.variables["short"]


@pytest.mark.parametrize("theme", EXACT, ids=named)
def test_words_can_be_read_on_what_they_stand_on(theme: Theme) -> None:
    assert theme.surface is not None and theme.foreground is not None
    assert contrast(theme.foreground, theme.surface) >= 7
    for meaning in ("gain", "loss", "long", "short", "warn"):
        assert contrast(theme.variables[meaning], theme.surface) >= 4.5, meaning
    assert contrast(theme.variables["quiet"], theme.surface) >= 4


def hue(colour: str) -> float:
    return 360 * colorsys.rgb_to_hls(*Color.parse(colour).normalized)[0]


def test_red_rises_where_red_means_rising() -> None:
    usual, turned = BY_NAME["tradetui-dark"].variables, BY_NAME["tradetui-red-up"].variables
    assert (turned["gain"], turned["loss"]) == (usual["loss"], usual["gain"])
    assert BY_NAME["tradetui-red-up"].error == BY_NAME["tradetui-dark"].error, "danger stays red"


def test_colour_blind_eyes_tell_blue_from_orange() -> None:
    theme = BY_NAME["tradetui-colour-blind"]
    for gain, loss in (("gain", "loss"), ("long", "short")):
        assert 180 < hue(theme.variables[gain]) < 260
        assert 20 < hue(theme.variables[loss]) < 60


def test_the_terminals_own_theme_names_no_colour_of_ours() -> None:
    theme = BY_NAME["tradetui-terminal"]
    assert theme.ansi
    told = [theme.primary, theme.surface, theme.foreground, theme.background, theme.error, *theme.variables.values()]
    assert all(colour is not None and (colour.startswith("ansi_") or colour == "reverse") for colour in told)


@pytest.mark.parametrize("file", sorted([*ROOM.rglob("*.py"), *ROOM.rglob("*.tcss")]), ids=lambda file: str(file.name))
def test_colours_are_named_in_themes_only(file: Path) -> None:
    if file.name != "themes.py":
        assert not re.search(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|\brgb\(", file.read_text(encoding="utf-8"))


def bytes_of(theme: str, **environment: str) -> bytes:
    with Terminal([sys.executable, "-m", "tests.ui.themed", theme], environment=environment) as terminal:
        terminal.until_shown(b"no exchange here")
        terminal.send(b"?")
        terminal.read_for(1.0)
        assert terminal.process.poll() is None
        return bytes(terminal.output)


def test_the_terminals_own_colours_reach_it_as_they_are() -> None:
    written = bytes_of("terminal")
    assert not EXACT_COLOUR.search(written)
    assert COLOURED.search(written)


@pytest.mark.parametrize("theme", ["dark", "terminal"])
def test_without_colours_there_is_none(theme: str) -> None:
    assert not COLOURED.search(bytes_of(theme, NO_COLOR="1"))


def test_an_empty_no_color_keeps_the_colours() -> None:
    assert COLOURED.search(bytes_of("dark", NO_COLOR=""))
