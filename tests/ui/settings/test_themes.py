"""Themes: every one says all it has to, can be read, and keeps to the terminal's colours, or to none, where asked."""

from __future__ import annotations

import math
import re
import sys
from itertools import combinations
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.app import App, ComposeResult
from textual.color import Color
from textual.containers import Vertical
from textual.theme import Theme
from textual.widgets import Button

import tradetui.ui
from tests.bench.terminal import Terminal
from tradetui.ui.settings.themes import DEFAULT_THEME, THEMES, first_theme
from tradetui.ui.terminal.drawn_once import TerminalAbilities

BY_NAME = {theme.name: theme for theme in THEMES}
EXACT = [theme for theme in THEMES if not theme.ansi]
TONES = ("gain", "loss", "long", "short", "warn")
VARIABLES = (*TONES, "quiet", "frame", "cursor", "cursor-cell")
MEANINGS = {
    "gain": "profit, and money received as profit",
    "loss": "a loss, and money paid as one",
    "long": "the long side, and what buys",
    "short": "the short side, and what sells",
    "warn": "look here: not known, not proven, not as it was",
    "danger": "live money, a refusal, the button that sends",
    "press": "keys, the frame with the focus, what harms nothing",
}
# Machado, Oliveira and Fernandes (2009), severity 1: linear red, green and blue as these eyes see them.
SEEN_AS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
}
WHITES = {0, 7, 8, 15}
COLOURED = re.compile(rb"\x1b\[[0-9;]*\b(?:38|48|3[0-7]|4[0-7]|9[0-7]|10[0-7])\b[0-9;]*m")
EXACT_COLOUR = re.compile(rb"\x1b\[[0-9;]*\b(?:38|48);[25];")
ROOM = Path(tradetui.ui.__file__).parent


def named(theme: Theme) -> str:
    return theme.name


def linear(colour: str) -> list[float]:
    return [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(colour).normalized
    ]


def colours_of(theme: Theme) -> dict[str, str]:
    """The colour of each meaning."""
    assert theme.error is not None
    return {**{tone: theme.variables[tone] for tone in TONES}, "danger": theme.error, "press": theme.primary}


def contrast(one: str, other: str) -> float:
    """As the accessibility guidelines reckon it: 1 to 21."""

    def light(colour: str) -> float:
        red, green, blue = linear(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def lab(colour: str, eyes: str) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as some eyes see it."""
    rgb = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(factor * part for factor, part in zip(row, rgb, strict=True)))) for row in SEEN_AS[eyes]
    )

    def root(part: float) -> float:
        return float(part ** (1 / 3)) if part > 0.008856 else 7.787 * part + 16 / 116

    x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: str, other: str, eyes: str) -> float:
    """How far apart two colours are (CIE76); about 2.3 can just be told."""
    return math.dist(lab(one, eyes), lab(other, eyes))


def test_there_is_one_for_everybody() -> None:
    assert set(BY_NAME) == {f"tradetui-{name}" for name in ("dark", "light", "terminal", "colour-blind", "red-up")}
    assert DEFAULT_THEME == "tradetui-dark"
    assert not BY_NAME["tradetui-light"].dark


@pytest.mark.parametrize("theme", THEMES, ids=named)
def test_every_meaning_has_a_colour(theme: Theme) -> None:
    assert set(VARIABLES) <= set(theme.variables)
    colours = colours_of(theme)
    assert set(colours) == set(MEANINGS)
    assert len(set(colours.values())) == len(colours), "one colour says one thing"
    assert (theme.warning, theme.accent) == (theme.variables["warn"], None)


@pytest.mark.parametrize("theme", EXACT, ids=named)
def test_words_can_be_read_on_what_they_stand_on(theme: Theme) -> None:
    assert theme.surface is not None and theme.foreground is not None
    assert contrast(theme.foreground, theme.surface) >= 7
    for tone in TONES:
        assert contrast(theme.variables[tone], theme.surface) >= 4.5, tone
        assert contrast(theme.variables[tone], theme.variables["cursor"]) >= 4.5, tone
        assert contrast(theme.variables[tone], theme.variables["cursor-cell"]) >= 4, tone
    assert contrast(theme.variables["quiet"], theme.surface) >= 4
    assert theme.error is not None and theme.background is not None
    assert contrast(theme.error, theme.background) >= 4.5, "badges are written on it"
    assert contrast(theme.primary, theme.background) >= 4.5


class Buttons(App[None]):
    """Both coloured buttons of a dialog in a theme, on and off."""

    CSS_PATH = ROOM / "dialogs" / "dialogs.tcss"

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            for is_off in (False, True):
                yield Button("Show", variant="primary", disabled=is_off)
                yield Button("Reverse", variant="error", disabled=is_off)


@pytest.mark.parametrize("theme", EXACT, ids=named)
async def test_the_words_of_a_button_can_be_read_on_its_colour(theme: Theme) -> None:
    app = Buttons(theme)
    async with app.run_test():
        for button in app.query(Button):
            drawn = app.screen.get_style_at(*map(int, button.region.center))
            assert drawn.color is not None and drawn.bgcolor is not None
            least = 4 if button.disabled else 4.5
            assert contrast(drawn.color.name, drawn.bgcolor.name) >= least, (button.variant, button.disabled)


@pytest.mark.parametrize("theme", EXACT, ids=named)
def test_every_meaning_can_be_told_from_every_other(theme: Theme) -> None:
    assert theme.foreground is not None
    for one, other in combinations([*colours_of(theme).values(), theme.foreground], 2):
        assert difference(one, other, "all cones") >= 20, (one, other)


@pytest.mark.parametrize("eyes", SEEN_AS)
def test_colour_blind_eyes_tell_the_meanings_apart(eyes: str) -> None:
    colours = colours_of(BY_NAME["tradetui-colour-blind"])
    for one, other in combinations(colours, 2):
        assert difference(colours[one], colours[other], eyes) >= 15, (one, other)


@pytest.mark.parametrize("theme", EXACT, ids=named)
def test_with_sixteen_colours_no_meaning_turns_white_or_into_another(theme: Theme) -> None:
    colours = colours_of(theme).values()
    nearest = {RichColor.parse(colour).downgrade(ColorSystem.STANDARD).number for colour in colours}
    assert len(nearest) == len(colours)
    assert not nearest & WHITES


def test_red_rises_where_red_means_rising() -> None:
    usual, turned = BY_NAME["tradetui-dark"].variables, BY_NAME["tradetui-red-up"].variables
    assert (turned["gain"], turned["loss"]) == (usual["loss"], usual["gain"])
    assert BY_NAME["tradetui-red-up"].error == BY_NAME["tradetui-dark"].error, "danger stays what it is"


FEW = TerminalAbilities(has_256_colours=False)


@pytest.mark.parametrize(
    ("of_profile", "chosen", "terminal", "begins_with"),
    [
        (None, None, TerminalAbilities(), "tradetui-dark"),
        ("light", None, TerminalAbilities(), "tradetui-light"),
        ("light", "red-up", TerminalAbilities(), "tradetui-red-up"),
        ("no-such-theme", None, TerminalAbilities(), "tradetui-dark"),
        (None, None, FEW, "tradetui-terminal"),
        (None, "light", FEW, "tradetui-terminal"),
        ("light", None, FEW, "tradetui-light"),
    ],
)
def test_the_theme_to_begin_with(
    of_profile: str | None, chosen: str | None, terminal: TerminalAbilities, begins_with: str
) -> None:
    assert first_theme(of_profile, chosen, terminal) == begins_with


def test_the_terminals_own_theme_names_no_colour_of_ours() -> None:
    theme = BY_NAME["tradetui-terminal"]
    assert theme.ansi
    colours = [theme.primary, theme.surface, theme.foreground, theme.background, theme.error, *theme.variables.values()]
    assert all(colour is not None and (colour.startswith("ansi_") or colour == "reverse") for colour in colours)


@pytest.mark.parametrize("file", sorted([*ROOM.rglob("*.py"), *ROOM.rglob("*.tcss")]), ids=lambda file: str(file.name))
def test_colours_are_named_in_themes_only(file: Path) -> None:
    if file.name != "themes.py":
        assert not re.search(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|\brgb\(", file.read_text(encoding="utf-8"))


def bytes_of(theme: str, **environment: str) -> bytes:
    with Terminal(
        [sys.executable, "-m", "tests.ui.fixtures.themed_program", theme], environment=environment
    ) as terminal:
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
