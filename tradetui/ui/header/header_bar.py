"""The bar at the top: whose money it is, what may be done, the account's worth and the link, in one or two lines.

An unknown figure is `—`, and a figure that is no longer read has no colours, so that nobody trades on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from tradetui.ui.settings.ui_settings import UiSettings
from tradetui.wire.text import scrub

QUIET_SECONDS: Final = 5.0
_ENVIRONMENT: Final = {
    "SANDBOX": "bold $background on $primary",
    "DEMO": "bold $background on $warn",
    "LIVE": "bold $background on $error",
}
_ACCESS: Final = {
    "TRADE": "bold reverse",
    "LOCKED": "bold $background on $warn",
    "VIEWER": "bold $background on $primary",
    "VIEWER · LOCKED": "bold $background on $warn",
    "NO STORE": "bold $background on $warn",
    "MONITOR": "bold $background on $primary",
    "KEY READS ONLY": "bold $background on $primary",
    "MONITOR · UNIFIED": "bold $background on $primary",
}
_TWO_LINES_FROM: Final = 12
_GAP: Final = 3  # cells between two figures
_UNKNOWN_BADGE: Final = "bold $background on $error"
Part: TypeAlias = tuple[str, str]
_SPACE: Final[Part] = ("  ", "")


def header_lines(terminal_height: int) -> int:
    return 2 if terminal_height >= _TWO_LINES_FROM else 1


class Figure(NamedTuple):
    """One figure of the bar with its label; if room is short, figures of the highest `rank` are dropped first.

    `short` is its shorter form if the whole does not fit; empty means that it is dropped.
    """

    rank: int
    parts: tuple[Part, ...]
    short: tuple[Part, ...] = ()

    @property
    def width(self) -> int:
        return _width(self.parts)


class HeaderContent(NamedTuple):
    """The bar's content: badges at the left, the link at the right, and the account's worth below."""

    environment: str
    access: str
    account: str
    alarm: str = ""
    locker: str = ""
    """The other person who has locked trading first, with the machine; said where there is room."""
    worth: tuple[Figure, ...] = ()
    link: tuple[Figure, ...] = ()


_STARTING: Final = (Figure(1, (("starting …", "$quiet"),)),)
_NOT_OPEN: Final = (Figure(1, (("not open: nothing is read and nothing can be sent", "$warn"),)),)


class HeaderBar(Widget):
    """Two lines, or one on a low terminal; the link's state is repainted every few seconds."""

    def __init__(self, settings: UiSettings, chosen: int) -> None:
        """`chosen` is the index of the profile that is open or being opened."""
        super().__init__(id="header")
        self._painted_at = -QUIET_SECONDS  # when the whole bar was last brought up to date
        self.begin(settings.environment, settings.access, settings.profiles[chosen].name)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return header_lines(viewport.height)

    def begin(self, environment: str, access: str, account: str) -> None:
        self.shown = HeaderContent(environment, access, scrub(account), worth=_STARTING)
        self._urgent: tuple[object, ...] = ()
        self.refresh()

    def cannot_open(self) -> None:
        self.shown = self.shown._replace(worth=_NOT_OPEN)
        self.refresh()

    def show(self, urgent: tuple[object, ...], now: float, content: HeaderContent) -> None:
        """Update the bar: at once if `urgent` has changed, else every few seconds.

        The account's worth is always the present one, because the panels below show sums of the same rows.
        """
        if urgent == self._urgent and now - self._painted_at < QUIET_SECONDS:
            shown = self.shown._replace(worth=content.worth)
        else:
            shown = content
            self._urgent, self._painted_at = urgent, now
        if shown != self.shown:
            self.shown = shown
            self.refresh()

    def render(self) -> Content:
        """The alarm stands beside the badges, or begins the second line if it does not fit there as a whole."""
        shown, width = self.shown, self.content_size.width
        room = width - sum(figure.width + 1 for figure in shown.link[:1])
        badges = _badges(shown, shown.locker)
        alarm = [_SPACE, (f" {shown.alarm} ", "bold $background on $error")] if shown.alarm else []
        left, below = [*badges, *alarm], []
        if self.size.height > 1 and _width(left) > room:
            left, below = badges, [*alarm[1:], *alarm[:1]]
        if _width(left) > room:
            left = [*_badges(shown), *left[len(badges) :]]
        if self.size.height > 1:
            below += _in_a_row(fitting_figures(shown.worth, width - _width(below)))
            return Content("\n").join([_line(_spread(left, shown.link, width), width), _line(below, width)])
        room = width - _width(left) - _GAP
        worth = _in_a_row(fitting_figures(shown.worth, room - sum(figure.width + _GAP for figure in shown.link[:1])))
        left = [*left, (" " * _GAP, ""), *worth] if worth else left
        return _line(_spread(left, shown.link, width), width)


def _badges(shown: HeaderContent, locker: str = "") -> list[Part]:
    access = f"{shown.access} by {locker}" if locker else shown.access
    return [
        (f" {shown.environment} ", _ENVIRONMENT.get(shown.environment, _UNKNOWN_BADGE)),
        (" ", ""),
        (f" {access} ", _ACCESS.get(shown.access, _UNKNOWN_BADGE)),
        _SPACE,
        (shown.account, "bold $foreground"),
    ]


def _width(parts: Sequence[Part]) -> int:
    return sum(cell_len(text) for text, _ in parts)


def _line(parts: list[Part], width: int) -> Content:
    return Content.assemble(*parts).truncate(width, ellipsis=True)


def _spread(left: list[Part], figures: tuple[Figure, ...], width: int) -> list[Part]:
    taken = _width(left)
    right = _in_a_row(fitting_figures(figures, width - taken - 1))
    room = width - taken - _width(right)
    return [*left, (" " * max(0, room), ""), *right]


def fitting_figures(figures: Sequence[Figure], width: int) -> list[Figure]:
    """Return the figures of the lowest rank that fit side by side, in order."""
    fitting: dict[int, Figure] = {}
    room = width + _GAP
    for index, figure in sorted(enumerate(figures), key=lambda entry: entry[1].rank):
        if figure.width + _GAP > room and figure.short:
            figure = Figure(figure.rank, figure.short)
        room -= figure.width + _GAP
        if room < 0:
            break
        fitting[index] = figure
    return [fitting[index] for index in sorted(fitting)]


def _in_a_row(figures: Sequence[Figure]) -> list[Part]:
    parts: list[Part] = []
    for figure in figures:
        parts += [*([(" " * _GAP, "")] if parts else []), *figure.parts]
    return parts
