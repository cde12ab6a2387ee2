"""The sentences beside the figures of a period: what the wallet did, and why something is not known or not there.

They decide nothing: each is worked out from results that were read before.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, tzinfo
from decimal import Decimal

from textual.content import Content

from tradetui.desk.archive.ledger.missing_fills import MissingSpan
from tradetui.desk.archive.span_sums import USDT
from tradetui.desk.results.period_query import Period
from tradetui.desk.results.period_results import PeriodResults, ResultFigures
from tradetui.desk.results.result_columns import amount_text
from tradetui.desk.results.today import TodayResult
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import UNREADABLE_MARK
from tradetui.desk.tables.cells.figure_columns import money
from tradetui.desk.tables.cells.number_format import CONVERTED
from tradetui.desk.tables.time_format import date_text, dated_text
from tradetui.trading.results.periods import day_at
from tradetui.ui.money.calendar_panel import MonthGrid
from tradetui.ui.money.period_reading import PeriodReading
from tradetui.ui.settings.time_zones import zone_label
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import counted


def wallet_sentence(
    results: PeriodResults, cell_format: CellFormat, bills_refused: str, *, is_short: bool = False
) -> str:
    """The wallet's change with its parts, or the unknown part; then the pieces that are not read yet.

    `bills_refused` is why the exchange gives no bills, if so. `is_short` leaves out what the panel of results has, too.
    """
    moved, transferred = results.wallet_moved, results.equity.transferred

    def signed(amount: Decimal | None) -> str:
        return money(amount, USDT, cell_format, signed=True)

    net = signed(results.total.net)
    if moved is not None and is_short:
        parts = [f"Wallet moved {signed(moved)}, transfers {signed(transferred)}"]
    elif moved is not None:
        beyond = f"transfers {signed(transferred)}, unexplained {signed(results.unexplained)}"
        parts = [f"Wallet moved {signed(moved)}: net {net}, {beyond}"]
    else:
        mark = CONVERTED if results.total.is_converted else ""
        parts = [f"Net {mark}{net}"]
    misses_bills = results.total.funding is None and not bills_refused
    if results.total.funding is not None and moved is None:
        parts.append("the wallet's move is not known")
    elif results.total.funding is None and (bills_refused or not results.missing):
        parts.append(f"funding and wallet not known: {bills_refused or 'bills are being read'}")
    if results.missing:
        parts.append(missing_sentence(results, "bills" if misses_bills else ""))
    if results.total.sums.incomplete_fills:
        parts.append(f"? no fee or profit given for {counted(results.total.sums.incomplete_fills, 'fill')}")
    return " · ".join(parts)


def open_change_reason(results: PeriodResults, symbols: tuple[str, ...]) -> str:
    """Why the change of open profit, and with it the result, is unknown; empty where it is known."""
    equity = results.equity
    if equity.open_change is not None:
        return ""
    if symbols:
        return "— equity is of the whole account"
    if equity.start is None:
        if equity.sampled_from is None:
            return "— no equity was sampled"
        return f"— no equity sample until {dated_in_period(equity.sampled_from, results)}"
    if equity.end is None:
        return "— no equity sample near the end"
    return "— an account reports no open profit"


def today_reason(today: TodayResult | None, unknown_because: str, zone: tzinfo, *, is_short: bool = False) -> str:
    """Why the header has no result of today, or one of a part of it; empty where it has one or none was looked for."""
    if today is None:
        return f"today —: {unknown_because}" if unknown_because else ""
    if today.since is None:
        return ""
    return f"today: {'' if is_short else 'from the '}first sample at {utc_moment(today.since).astimezone(zone):%H:%M}"


def funding_beyond_fills(figures: ResultFigures | None, coin: str, cell_format: CellFormat) -> str:
    """The funding in the net of some figures beside their fills; empty where there is none."""
    if figures is None or figures.funding == 0:
        return ""
    if figures.funding is None:
        return "funding that is not known"
    return f"funding {amount_text(figures.funding, coin, figures, cell_format)} {coin}"


def missing_sentence(results: PeriodResults, also_missing: str = "") -> str:
    """The pieces of the period that are not read yet, with `also_missing`, and those the exchange keeps no longer."""
    sentences = []
    for is_lost, end in ((False, "being read"), (True, "not kept by the exchange any longer")):
        spans = [span for span in results.missing if span.is_lost is is_lost]
        pieces = [_span_text(span, results) for span in spans[:1]]
        if len(spans) > 1:
            pieces.append(f"{len(spans) - 1} more")
        if also_missing and not is_lost:
            pieces.append(also_missing)
        if pieces:
            before_last = ", ".join(pieces[:-1])
            sentences.append(f"? {before_last}{' and ' if before_last else ''}{pieces[-1]} are {end}")
    return " · ".join(sentences)


def _span_text(span: MissingSpan, results: PeriodResults) -> str:
    period = results.period
    end = dated_in_period(span.until, results)
    if span.since <= (period.since or 0):
        return "fills of the whole period" if span.until >= results.now_ms else f"fills before {end}"
    begin = dated_in_period(span.since, results)
    if begin.rpartition(" ")[0] == end.rpartition(" ")[0]:
        end = end.rpartition(" ")[2]
    return f"fills from {begin} to {end}"


def dated_in_period(moment_ms: int, results: PeriodResults) -> str:
    """Such as `8 Nov 14:03`, for a moment in Unix ms, in the period's zone."""
    zone = results.period.zone
    return dated_text(utc_moment(moment_ms).astimezone(zone), day_at(results.now_ms, zone))


def period_sentences(
    period: Period, first_known: date | None, symbols: tuple[str, ...], today: date | None
) -> tuple[str, ...]:
    """The figures' days and symbols, the end of a day, and the coin; then in less room."""
    first, last = period.first_day or first_known, period.last_day
    if first is None or first == last:
        plain = date_text(last, today)
        days = f"{last:%a} {plain}"
    else:
        begin, end = date_text(first, today), date_text(last, today)
        plain = f"{begin} to {end}"
        days = f"{first:%a} {begin} to {last:%a} {end}"
    zone, chosen = zone_label(period.zone), ", ".join(symbols)
    with_zone = f"a day ends at 00:00 {zone}"
    from_longest = (
        (days, with_zone, f"in {USDT}", chosen or "all symbols"),
        (days, chosen, with_zone),
        (days, chosen, zone),
        (plain, zone, chosen),
    )
    return tuple(" · ".join(filter(None, parts)) for parts in from_longest)


def calendar_notes(grid: MonthGrid, cell_format: CellFormat, rows_key: str) -> tuple[Content, ...]:
    """The totals of a month's days, in the lines below its weeks; `rows_key` opens its fills."""
    whole = grid.whole
    if whole is None:
        return (Content.styled("Nothing was traded in this month.", "$quiet"),)
    averages = [
        f"{name} {money(average, USDT, cell_format, signed=True)}"
        for name, is_green in (("green days average", True), ("red days", False))
        if (average := grid.average(green=is_green)) is not None
    ]
    green, red, flat = grid.days_by_sign
    mark = "" if whole.is_complete else UNREADABLE_MARK
    net = money(whole.net, USDT, cell_format, signed=True)
    lines = [
        " · ".join(averages),
        f"{'? not all fills and fees are known · ' if mark else ''}{rows_key}: the day's fills",
        f"{counted(len(grid.nets), 'day')}  net {net}{mark}   green {green}   red {red}   flat {flat}",
    ]
    return tuple(Content.styled(line, "$quiet") for line in lines if line)


def nothing_sentence(reading: PeriodReading, results: PeriodResults, key_named: Callable[[str], str]) -> str:
    """Why the results of a reading have no row, and what happens next or which key helps."""
    if not reading.has_any:
        is_missing = any(not span.is_lost for span in results.missing)
        older = "Fills of the last ninety days are being read." if is_missing else "This account has none to be read."
        return f"No fills are kept yet.\n{older}\nWhat you trade from now on stays here for good."
    if reading.dates is None:
        keys = f"{key_named('period_before')} and {key_named('period_after')}"
        return f"Nothing was traded in this period.\n{keys} choose another period."
    typed = ", ".join(reading.dates.symbols)
    nothing = f"No fill of {typed}" if typed else "Nothing was traded"
    return f"{nothing} in this period.\n{key_named('back')} goes back from these dates."
