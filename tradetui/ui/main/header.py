"""The header bar: whose money, what may be done, what it is worth, and how the link is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from tradetui.wire.text.sanitize import scrub

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.tables.account_totals import Totals

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
_STATES: Final = {
    "starting": ("○ ", "$quiet"),
    "connected": ("● ", "$success"),
    "degraded": ("▲ degraded ", "bold $warn"),
    "refused": ("✗ refused ", "bold $error"),
    "down": ("✗ link down ", "bold $error"),
}
_ADDRESS_PARTS: Final = 2
"""Label and figure of the network address, the last of the link's parts and the first to go where room is short."""
_UNKNOWN_BADGE: Final = "bold $background on $error"
Part: TypeAlias = tuple[str, str]


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

    def show(self, desk: Desk, now: float) -> None:
        """Bring the bar up to date."""
        link, totals = desk.link, desk.totals()
        halved = any(use.halved for use in link.usage().values())
        # What matters is painted at once: whose money it is, what may be done, and what is known for the first time.
        alarm = alarm_of(desk)
        known = (totals.equity is None, totals.unrealised is None, totals.worst_margin_ratio is None)
        urgent = (
            desk.access,
            desk.health.state,
            desk.account,
            link.clock_warns,
            link.clock_blocks,
            halved,
            link.address_usage().slowed,
            link.latency_ms is None,
            alarm,
            *known,
        )
        if urgent == self._urgent and now - self._painted_at < QUIET_SECONDS:
            return
        shown = Shown(
            str(desk.settings.environment),
            str(desk.access),
            account_of(desk),
            alarm,
            worth_of(desk),
            link_of(desk, halved),
        )
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


NOT_KEPT = "NOTHING IS KEPT"


def account_of(desk: Desk) -> str:
    """The account's name and UID."""
    uid = desk.account.uid if desk.account is not None else desk.settings.uid
    return scrub(f"{desk.settings.name} · {uid}" if uid else desk.settings.name)


def alarm_of(desk: Desk) -> str:
    """A journal that is lost or fails, a lock others do not see, or what an open intent locks, in whatever state."""
    if desk.execution is None:
        return NOT_KEPT if desk.archive_trouble else ""
    if desk.execution.intents.loss is not None:
        return "JOURNAL LOST OR DAMAGED: L"
    if not desk.execution.intents.lock_is_told:
        return "LOCKED IN THIS SESSION ONLY"
    if desk.execution.intents.fault is not None:
        return f"JOURNAL {desk.execution.intents.fault.upper()}: L"
    open_scopes = desk.execution.intents.open_scopes()
    if not open_scopes:
        return NOT_KEPT if desk.archive_trouble else ""
    name, state = open_scopes[0]
    more = f" and {len(open_scopes) - 1} more" if len(open_scopes) > 1 else ""
    if state is None:
        return scrub(f"LOCKED BY ANOTHER JOURNAL {name}{more}")
    label = "UNKNOWN OUTCOME" if state == "unknown" else "NOT SETTLED"
    return scrub(f"{label} {name}{more}: J")


def worth_of(desk: Desk) -> tuple[Part, ...]:
    """Equity or total margin, unrealised profit and worst margin ratio; what no account tells is —."""
    # The first paint, which is this bar's too, waits for no column.
    from tradetui.desk.tables.columns import by_sign, number, percent

    totals = desk.totals()
    profit = totals.unrealised
    tone = str(by_sign(lambda _: profit)(None))
    style = {"gain": "$gain", "loss": "$loss"}.get(tone, "")
    free: tuple[Part, ...] = ()
    if totals.has_union:
        free = (("   available ", "$quiet"), (number(totals.union_available, places=2), ""))
    return (
        (f"{_worth_label(totals)} ", "$quiet"),
        (number(totals.equity, places=2), "bold $foreground"),
        (" USDT   unrealised ", "$quiet"),
        (number(profit, signed=True, places=2), style),
        ("   margin ratio ", "$quiet"),
        (percent(totals.worst_margin_ratio), ""),
        *free,
    )


def _worth_label(totals: Totals) -> str:
    """What the first figure is: several assets count at the exchange's valuation, which is no equity."""
    if not totals.has_union:
        return "equity"
    return "equity+union" if totals.has_single else "union margin"


def link_of(desk: Desk, halved: bool) -> tuple[Part, ...]:
    """Link, latency, clock offset, the fullest budget of an endpoint, and that of the network address."""
    from tradetui.desk.tables.columns import UNKNOWN

    link = desk.link
    latency = UNKNOWN if link.latency_ms is None else f"{link.latency_ms:.0f} ms"
    offset = link.clock_offset_ms
    clock = UNKNOWN if offset is None else f"{offset:+d} ms" if abs(offset) < 10_000 else f"{offset / 1000:+.0f} s"
    alarm = link.clock_warns or link.clock_blocks
    address = link.address_usage()
    fullest = max((use.used / use.allowed for use in link.usage().values() if use.allowed), default=0.0)
    return (
        _STATES.get(str(desk.health.state), _STATES["degraded"]),
        (latency, "$quiet"),
        ("  clock ", "$quiet"),
        (f"{clock}{'!' if alarm else ''}", "bold $error" if link.clock_blocks else "bold $warn" if alarm else "$quiet"),
        ("  budget ", "$quiet"),
        (f"{min(fullest, 1):.0%}{' halved' if halved else ''}", "bold $warn" if halved else "$quiet"),
        ("  address ", "$quiet"),
        (f"{address.share:.0%}{' slowed' if address.slowed else ''}", "bold $warn" if address.slowed else "$quiet"),
    )
