"""The header bar: whose money, what may be done, what it is worth, and how the link is doing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from tradetui.wire.text.sanitize import scrub

QUIET_SECONDS: Final = 5.0
_ENVIRONMENT: Final = {
    "SANDBOX": "bold $background on $accent",
    "DEMO": "bold $background on $warn",
    "LIVE": "bold $background on $error",
}
_ACCESS: Final = {
    "TRADE": "bold $background on $success",
    "LOCKED": "bold $background on $warn",
    "MONITOR": "bold $background on $primary",
}
_TWO_LINES_BELOW: Final = 150
_ADDRESS_PARTS: Final = 2
"""Label and figure of the network address, the last of the link's parts and the first to go where room is short."""
_UNKNOWN_BADGE: Final = "bold $background on $error"
Part: TypeAlias = tuple[str, str]


def has_two_lines(width: int, height: int) -> bool:
    """Whether the header takes two lines in a terminal of so many cells."""
    return width < _TWO_LINES_BELOW and height >= 12


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands in the bar: badges at the left, worth in the middle, the link at the right; text and style."""

    environment: str
    access: str
    account: str
    alarm: str = ""
    worth: tuple[Part, ...] = ()
    link: tuple[Part, ...] = ()


class HeaderBar(Widget):
    """One line, or two where one is too narrow; what merely fluctuates is repainted every few seconds."""

    def __init__(self, environment: str, access: str, account: str) -> None:
        super().__init__(id="header")
        self.shown = Shown(environment, access, scrub(account), worth=(("starting …", "$quiet"),))
        self._urgent: tuple[object, ...] = ()
        self._painted_at = -QUIET_SECONDS

    def begin(self, environment: str, access: str, account: str) -> None:
        """Another account is being opened: nothing of the one before may stay."""
        self.shown = Shown(environment, access, scrub(account), worth=(("starting …", "$quiet"),))
        self._urgent = ()
        self.refresh()

    def show(self, urgent: tuple[object, ...], now: float, shown_now: Callable[[], Shown]) -> None:
        """Bring the bar up to date: at once where `urgent` is another than before, else every few seconds."""
        if urgent == self._urgent and now - self._painted_at < QUIET_SECONDS:
            return
        shown = shown_now()
        self._urgent, self._painted_at = urgent, now
        if shown != self.shown:
            self.shown = shown
            self.refresh()

    def render(self) -> Content:
        """The bar: the link stands at the right end of the first line."""
        shown, width = self.shown, self.content_size.width
        badges: list[Part] = [
            (f" {shown.environment} ", _ENVIRONMENT.get(shown.environment, _UNKNOWN_BADGE)),
            (" ", ""),
            (f" {shown.access} ", _ACCESS.get(shown.access, _UNKNOWN_BADGE)),
            ("  ", ""),
            (shown.account, "bold $foreground"),
        ]
        if shown.alarm:
            badges += [("  ", ""), (f" {shown.alarm} ", "bold $background on $error")]
        if self.size.height > 1:
            return Content.assemble(*_spread(badges, shown.link, width), "\n", *shown.worth)
        return Content.assemble(*_spread([*badges, ("    ", ""), *shown.worth], shown.link, width))


def _spread(left: list[Part], right: tuple[Part, ...], width: int) -> list[Part]:
    """Left and right parts with what is left of the width between; where there is no room the link's state stays."""
    taken = sum(cell_len(text) for text, _ in left)
    for shown in (right, right[:-_ADDRESS_PARTS], right[:2], right[:1]):
        room = width - taken - sum(cell_len(text) for text, _ in shown)
        if shown and room > 0:
            return [*left, (" " * room, ""), *shown]
    return left
