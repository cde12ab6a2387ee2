"""What an open session says in the header: alarms, the account's worth and the link.

The start screen paints the bar before this module is imported, because its imports take a hundredth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.polling.session_health import LOST_LINKS, LinkState
from tradetui.desk.intents.states import State
from tradetui.desk.settings import Access
from tradetui.desk.tables.cells.cell_format import UNKNOWN, number, percent, percent_points
from tradetui.desk.tables.cells.column import UNREADABLE_MARK, Tone, tone_of
from tradetui.ui.header.header_bar import Figure, HeaderBar, HeaderContent, Part
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.settings.ui_settings import NO_UID
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import scrub

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.results.today import TodayResult
    from tradetui.exchange.connection_status import ConnectionStatus
    from tradetui.trading.account_totals import Totals


class Alarm(StrEnum):
    """The header's warnings, the most urgent first. A journal that fails is named by its `JournalFault`."""

    OTHER_OWNER = "KEY OF ANOTHER ACCOUNT"
    JOURNAL_LOST = "JOURNAL LOST OR DAMAGED"
    OLDER_STORE = "STORE WENT BACK IN TIME"
    LOCKED_HERE_ONLY = "LOCKED IN THIS SESSION ONLY"
    STORE_AWAY = "STORE AWAY"
    OTHER_JOURNAL = "LOCKED BY ANOTHER JOURNAL"
    UNKNOWN_OUTCOME = "UNKNOWN OUTCOME"
    NOT_SETTLED = "NOT SETTLED"
    NOT_KEPT = "HISTORY NOT SAVED"


_STATES: Final = {
    LinkState.STARTING: ("○ ", "$quiet"),
    LinkState.CONNECTED: ("● ", "$foreground"),
    LinkState.DEGRADED: ("▲ degraded ", "bold $warn"),
    LinkState.REFUSED: ("✗ refused ", "bold $warn"),
    LinkState.DOWN: ("✗ link down ", "bold $warn"),
}
_USDT: Final = (" USDT", "$quiet")
_PROFIT_STYLES: Final = {Tone.GAIN: "$gain", Tone.LOSS: "$loss"}


def show_session(bar: HeaderBar, desk: Desk, key_named: Callable[[Action], str]) -> None:
    """Update the bar from a session; `key_named` gives the key of a binding."""
    link, state, totals, today = desk.client.connection_status, desk.health.state, desk.totals(), desk.today()
    is_halved, alarm = any(use.halved for use in link.budget.usage().values()), alarm_of(desk, key_named)
    worth = worth_of(totals, today_of(today, desk.zone, desk.today_unknown_because))
    if state in LOST_LINKS:  # as in the tables, figures that are no longer read have no colours
        worth = tuple(Figure(rank, _quiet(parts), _quiet(short)) for rank, parts, short in worth)
    shared = None if desk.intents is None else desk.intents.shared
    lockers = [str(lock.writer) for lock in shared.locks_of_others] if shared is not None else []
    locker = scrub(lockers[0]) if lockers and desk.access in (Access.LOCKED, Access.VIEWER_LOCKED) else ""
    content = HeaderContent(
        environment=str(desk.settings.environment),
        access=str(desk.access),
        account=account_of(desk),
        alarm=alarm,
        locker=locker,
        worth=worth,
        link=link_of(link, state, is_halved=is_halved),
    )
    clock, budget = link.server_clock, link.budget.address_usage()
    restraints = (clock.warns, clock.blocks_writes, is_halved, budget.slowed)
    figures = (totals.equity, totals.unrealised, totals.worst_margin_ratio, totals.open_profit)
    # Painted at once when they change: permissions, warnings, and that a figure is known for the first time.
    known = tuple(figure is not None for figure in (*figures, totals.exposure_multiple, today, link.latency_ms))
    bar.show((desk.access, locker, state, desk.account, alarm, restraints, known), desk.clock.monotonic(), content)


def _quiet(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple((text, "$quiet") for text, _ in parts)


def account_of(desk: Desk) -> str:
    uid = desk.uid or (NO_UID if desk.account is not None else "")
    return scrub(" · ".join(filter(None, (desk.settings.name, uid))))


def alarm_of(desk: Desk, key_named: Callable[[Action], str]) -> str:
    """Return the alarm of a lost or failing journal, of a lock hidden from other sessions, or of an open intent's lock.

    The key that shows or mends it follows; `key_named` gives the key of a binding.
    """
    intents = desk.intents
    if intents is None:
        return Alarm.NOT_KEPT if desk.storage.trouble else ""
    if intents.other_owner:
        return f"{Alarm.OTHER_OWNER}: {key_named(Action.LOCK)}"
    if intents.loss is not None:
        return f"{Alarm.JOURNAL_LOST}: {key_named(Action.LOCK)}"
    shared = intents.shared
    if shared is not None and shared.went_back:
        return f"{Alarm.OLDER_STORE}: {key_named(Action.LOCK)}"
    if intents.lock.unwritten is not None:
        return Alarm.LOCKED_HERE_ONLY
    if intents.fault is not None:
        return f"JOURNAL {intents.fault.upper()}: {key_named(Action.LOCK)}"
    if shared is not None and shared.away_s is not None:
        return f"{Alarm.STORE_AWAY} {shared.away_s:.0f} s"
    open_scopes = intents.open_scopes.names()
    if not open_scopes:
        return Alarm.NOT_KEPT if desk.storage.trouble else ""
    name, state, writer = open_scopes[0]
    more = f" and {len(open_scopes) - 1} more" if len(open_scopes) > 1 else ""
    if state is None:
        return scrub(f"{f'LOCKED BY {writer.upper()}' if writer else Alarm.OTHER_JOURNAL} {name}{more}")
    label = Alarm.UNKNOWN_OUTCOME if state is State.UNKNOWN else Alarm.NOT_SETTLED
    by = f" by {writer}" if writer else ""
    return scrub(f"{label} {name}{by}{more}: {key_named(Action.JOURNAL)}")


def worth_of(totals: Totals, today: Figure) -> tuple[Figure, ...]:
    """Equity or total margin, `today`, open profit, free margin, worst margin ratio, exposure; — is unknown."""
    profit = totals.unrealised if totals.open_profit is None else totals.open_profit
    multiple = totals.exposure_multiple
    converted = "~" if totals.open_profit is not None and totals.open_profit_is_converted else ""
    open_profit = (f"{converted}{number(profit, signed=True, places=2)}", _PROFIT_STYLES.get(tone_of(profit), ""))
    worth = (_label(_worth_label(totals)), (number(totals.equity, places=2), "bold $foreground"))
    unit_or_reason = (scrub(f" {totals.no_equity_because}"), "$warn") if totals.no_equity_because else _USDT
    figures = [
        Figure(1, (*worth, unit_or_reason), (*worth, _USDT)),
        today,
        Figure(4, (_label("open"), open_profit)),
        Figure(6, (_label("free"), (percent(totals.least_free), ""))),
        Figure(2, (_label("margin ratio"), (percent(totals.worst_margin_ratio), ""))),
        Figure(7, (_label("exposure"), (UNKNOWN if multiple is None else f"{number(multiple, places=1)} ×", ""))),
    ]
    if totals.has_union:
        figures.append(Figure(5, (_label("available"), (number(totals.union_available, places=2), ""))))
    return tuple(figures)


def today_of(today: TodayResult | None, zone: tzinfo = UTC, unknown_because: str = "") -> Figure:
    """Return today's result, amount and per cent; `?` if it lacks funding; `—` if unknown, with the reason if it fits.

    If there was no sample when the day began, the start of the result replaces the per cent.
    """
    if today is None:
        short = (_label("today"), (UNKNOWN, ""))
        return Figure(3, (*short, (scrub(f" {unknown_because}"), "$quiet")) if unknown_because else short, short)
    begin = () if today.since is None else (_label(f"from {utc_moment(today.since).astimezone(zone):%H:%M}"),)
    style = _PROFIT_STYLES.get(tone_of(today.amount), "")
    amount = f"{number(today.amount, signed=True, places=2)}{'' if today.is_complete else UNREADABLE_MARK}"
    short = (_label("today"), *begin, (amount, style))
    if today.part is None or begin:
        return Figure(3, short)
    return Figure(3, (*short, (f" {percent_points(today.part, signed=True)} %", style)), short)


def _label(text: str) -> Part:
    return f"{text} ", "$quiet"


def _worth_label(totals: Totals) -> str:
    """The first figure's label: several assets count at the exchange's valuation, which is no equity."""
    if not totals.has_union:
        return "equity"
    return "equity+union" if totals.has_single else "union margin"


def link_of(link: ConnectionStatus, state: LinkState, *, is_halved: bool) -> tuple[Figure, ...]:
    """Return link and latency, clock offset, and the calls of a minute beside the address's limit.

    `is_halved` is set after the exchange refused a call as one too many (HTTP 429): then fewer are made.
    """
    latency = UNKNOWN if link.latency_ms is None else f"{link.latency_ms:.0f} ms"
    if state is LinkState.DOWN:
        latency = ""  # the latency of earlier replies says nothing now
    offset = link.server_clock.offset_ms
    clock = UNKNOWN if offset is None else _signed_duration(offset)
    alarm = link.server_clock.warns or link.server_clock.blocks_writes
    address = link.budget.address_usage()
    restraint = ", halved" if is_halved else ", slowed" if address.slowed else ""
    used = f"{address.share * 100:.0f} % used{restraint}"
    return (
        Figure(1, (_STATES[state], (latency, "$quiet"))),
        Figure(3, (_label("clock"), (f"{clock}{'!' if alarm else ''}", "bold $warn" if alarm else "$quiet"))),
        Figure(2, (_label("rate limit"), (used, "bold $warn" if restraint else "$quiet"))),
    )


def _signed_duration(offset_ms: int) -> str:
    return f"{offset_ms:+d} ms" if abs(offset_ms) < 10_000 else f"{offset_ms / 1000:+.0f} s"
