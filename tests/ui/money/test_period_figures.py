"""The figures of a period as they read: signs, shares, marks, and what is not known."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, date
from decimal import Decimal

from tradetui.desk.archive.equity import CoinEquity, EquitySample
from tradetui.desk.results.equity_of_period import EquityOfPeriod
from tradetui.desk.results.period_query import Period
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.results.result_columns import are_all_converted, held_text, result_columns, result_totals, sum_of
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.cells.column import Footer, Tone
from tradetui.desk.tables.export import Format, write_rows
from tradetui.desk.tables.rows.row_source import MemoryRows, loaded_rows
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.returns import CurvePoint, Drawdown
from tradetui.trading.results.trips import ResultSums
from tradetui.ui.money.result_panel import FigureRow, Opens, result_rows
from tradetui.ui.table.table_lines import footer_parts
from tradetui.ui.table.table_model import SortFilter
from tradetui.wire.exchange_time import DAY_MS

TODAY = date(2026, 11, 21)
NOW_MS = 1_795_276_800_000


def figures(
    net: str = "6", group: str = "", coin: str = "USDT", *, is_complete: bool = True, is_converted: bool = False
) -> ResultLine:
    return ResultLine(
        group=group,
        coin=coin,
        sums=ResultSums(
            gross=Decimal(net) + 2,
            fees=Decimal(-2),
            volume=Decimal(1000),
            trades=3,
            wins=2,
            losses=1,
            won=Decimal(12),
            lost=Decimal(-4),
        ),
        is_complete=is_complete,
        is_converted=is_converted,
    )


def lines_of(
    total: ResultLine,
    *days: ResultLine,
    orders_complete: bool = True,
    sampled: EquityOfPeriod | None = None,
) -> dict[str, FigureRow]:
    results = PeriodResults(
        period=Period(date(2026, 10, 23), TODAY, UTC),
        now_ms=NOW_MS,
        total=total,
        days=days,
        equity=sampled or EquityOfPeriod(),
        orders_complete=orders_complete,
    )
    return {line.name.strip(): line for line in result_rows(results, CellFormat(today=TODAY))}


def day(number: int, net: str) -> ResultLine:
    of_day = date(2026, 11, number)
    return replace(figures(net, of_day.isoformat()), day=of_day)


def test_money_has_two_decimals_a_sign_and_a_colour() -> None:
    lines = lines_of(figures("1234.567"))
    assert (lines["Net realised"].amount, lines["Net realised"].tone) == ("+1,234.57", Tone.GAIN)
    assert lines["Net realised"].exact == "1234.567"
    assert (lines["Fees"].amount, lines["Fees"].left_note, lines["Fees"].right_note) == ("-2.00", "0.16 %", "of gross")
    assert lines["Fees"].tone is Tone.LOSS
    many_times = lines_of(figures("-1.95"))["Fees"]
    assert (many_times.left_note, many_times.right_note) == ("40 ×", "gross")


def test_orders_have_shares_and_averages() -> None:
    lines = lines_of(figures())
    assert lines["Closed orders"].amount == "3"
    assert (lines["won"].amount, lines["won"].left_note, lines["won"].right_note) == ("2", "66.67 %", "+6.00")
    assert (lines["lost"].amount, lines["lost"].left_note, lines["lost"].right_note) == ("1", "33.33 %", "-4.00")
    assert (lines["Profit factor"].amount, lines["Profit factor"].right_note) == ("3.00", "+2.67")


def test_what_is_not_known_is_a_dash() -> None:
    lines = lines_of(figures())
    for name in ("Funding", "Open, change", "Unexplained", "Result", "Max drawdown", "Best day"):
        assert lines[name].amount == "—"
        assert lines[name].tone is Tone.PLAIN


def test_a_gap_marks_what_it_touches() -> None:
    lines = lines_of(figures(is_complete=False, is_converted=True))
    assert (lines["Gross"].amount, lines["Gross"].mark) == ("+8.00", "?"), "the title says that it is converted"
    assert (lines["Closed orders"].amount, lines["Closed orders"].mark) == ("3", "?")
    assert lines["Funding"].mark == "", "a dash is not touched by anything"


def test_orders_that_are_not_all_counted_are_marked_alone() -> None:
    lines = lines_of(figures(), orders_complete=False)
    assert {name for name, line in lines.items() if line.mark} == {"Closed orders", "won", "lost", "Profit factor"}


def test_the_best_and_the_worst_day_open_themselves() -> None:
    lines = lines_of(figures(), day(8, "982.81"), day(9, "0"), day(20, "-784.55"))
    assert (lines["Best day"].amount, lines["Best day"].right_note, lines["Best day"].day) == (
        "+982.81",
        "8 Nov",
        date(2026, 11, 8),
    )
    assert (lines["Worst day"].amount, lines["Worst day"].opens) == ("-784.55", Opens.DAY)
    assert (lines["Green days"].amount, lines["Green days"].left_note, lines["Green days"].right_note) == (
        "1",
        "red 1",
        "flat 1",
    )


def equity(*curve: tuple[CurvePoint, ...], since: int = NOW_MS - 30 * DAY_MS, coin: str = "USDT") -> EquityOfPeriod:
    """Sampled equity of the thirty days before now."""
    account = CoinEquity(coin, Decimal(1000), Decimal(1000), Decimal(0))
    start, end = (EquitySample(at, Decimal(1000), Decimal(0), (account,)) for at in (since, NOW_MS))
    drawdown = Drawdown(Decimal("-0.25"), Decimal(-90), NOW_MS - DAY_MS)
    return EquityOfPeriod(start=start, end=end, curve=curve, drawdown=drawdown, time_weighted=Decimal("0.5"))


def curve(first_day: int, last_day: int) -> tuple[CurvePoint, ...]:
    """Two samples, so many days ago."""
    return tuple(CurvePoint(NOW_MS - days * DAY_MS, Decimal(1000), Decimal(1)) for days in (first_day, last_day))


def drawdown_of(sampled: EquityOfPeriod) -> tuple[str, str, str, Opens]:
    days = [day(number, net) for number, net in ((8, "5"), (9, "-3"), (10, "1"), (11, "-4"), (12, "2"))]
    row = lines_of(figures(), *days, sampled=sampled)["Max drawdown"]
    return row.amount, row.left_note, row.right_note, row.opens


def test_the_drawdown_is_of_the_results_by_day_unless_equity_was_sampled_throughout() -> None:
    by_day = ("-6.00", "by day", "to 11 Nov", Opens.DAYS)
    assert drawdown_of(equity(curve(30, 0))) == ("-90.00", "-25.00 %", "to 20 Nov", Opens.EQUITY)
    assert drawdown_of(equity(curve(30, 20), curve(19, 0))) == ("-90.00", "-25.00 %", "to 20 Nov", Opens.EQUITY)
    of_coins = drawdown_of(equity(curve(30, 0), coin="BTC"))
    assert of_coins == ("-90.00", "coins too", "to 20 Nov", Opens.EQUITY), "it includes the fall of their prices"
    assert drawdown_of(equity(curve(30, 20), curve(18, 0))) == by_day, "nobody knows what was between"
    assert drawdown_of(replace(equity(curve(2, 0)), start=None)) == by_day
    assert drawdown_of(replace(equity(curve(30, 2)), end=None)) == by_day
    assert drawdown_of(EquityOfPeriod()) == by_day
    rising = lines_of(figures(), day(8, "5"))["Max drawdown"]
    assert (rising.amount, rising.right_note) == ("0.00", "")
    worst = lines_of(figures(), day(8, "-784.55"), day(9, "900"))
    assert worst["Max drawdown"].amount == worst["Worst day"].amount == "-784.55"


def test_the_result_has_a_part_only_where_no_coin_s_price_is_in_it() -> None:
    assert lines_of(figures(), sampled=equity(curve(30, 0)))["Result"].left_note == "+50.00 %"
    assert lines_of(figures(), sampled=equity(curve(30, 0), coin="BTC"))["Result"].left_note == ""


def test_what_is_converted_throughout_is_said_once_for_all() -> None:
    converted = figures("3", "2026-11-20", is_converted=True)
    flat = ResultLine("2026-11-21")
    assert are_all_converted([converted, flat])
    assert not are_all_converted([converted, figures("6", "2026-11-19")])
    assert not are_all_converted([flat])
    net = next(column for column in result_columns(Grouping.DAY) if column.id == "net")
    once = replace(converted, marks_conversion=False)
    assert [net.text(line, DEFAULT_FORMAT) for line in (converted, once)] == ["~+3.00", "+3.00"]
    assert result_totals([once, once], DEFAULT_FORMAT, "day")["net"][0] == "+6.00"


def test_totals_sum_every_column_in_one_coin_only() -> None:
    lines = [figures("6", "BTCUSDT"), figures("3", "BTCUSD", is_converted=True)]
    totals = result_totals(lines, DEFAULT_FORMAT, "symbol")
    assert totals["symbol"] == ("2", Tone.PLAIN)
    assert totals["net"] == ("~+9.00", Tone.GAIN)
    assert totals["trades"][0] == "6"
    assert totals["wonPercent"][0] == "66.67"
    assert result_totals([*lines, figures("6", "BTC", "BTC")], DEFAULT_FORMAT, "coin") == {}


def test_a_filter_leaves_the_sum_of_the_rows_that_are_shown() -> None:
    symbols = ("BTCUSDT", "ETHUSDT", "ETHUSD")
    lines = [figures(str(net), symbol) for net, symbol in enumerate(symbols, 1)]
    narrowing = SortFilter(result_columns(Grouping.SYMBOL), DEFAULT_FORMAT)
    narrowing.pattern = "ETH"
    shown = list(loaded_rows(narrowing.view_of(MemoryRows(lines, symbols, 1)).rows))
    footer = Footer(result_totals(shown, DEFAULT_FORMAT, "symbol"))
    assert (footer.totals["symbol"][0], footer.totals["net"][0]) == ("2", "+5.00")
    has_rule, has_totals, _ = footer_parts(footer, len(shown), 5)
    assert has_totals
    assert has_rule


def test_funding_that_is_not_known_of_one_is_not_known_of_all() -> None:
    assert sum_of([ResultLine(funding=Decimal(1)), ResultLine()]).funding is None
    assert sum_of([ResultLine(funding=Decimal(1)), ResultLine(funding=Decimal(2))]).funding == 3
    assert not sum_of([ResultLine(is_complete=False), ResultLine()]).is_complete


def test_a_day_is_named_by_its_weekday_and_ordered_by_its_date() -> None:
    column = result_columns(Grouping.DAY)[0]
    line = day(21, "1")
    assert column.text(line, CellFormat(today=TODAY)) == "Sat 21 Nov"
    assert (column.value(line), column.sort_key(line)) == ("2026-11-21", "2026-11-21")


def test_the_time_held_in_its_two_greatest_units() -> None:
    minute = 60_000
    assert [held_text(ms) for ms in (None, 12_000, 5 * minute, 125 * minute, 50 * 60 * minute)] == [
        "—",
        "12 s",
        "5 min",
        "2 h 05 min",
        "2 d 2 h",
    ]


def test_exported_groups_have_the_names_of_the_command_and_per_cent_as_shown() -> None:
    line = figures("6", "BTCUSDT")
    stream = io.StringIO()
    write_rows(stream, MemoryRows((line,), ("BTCUSDT",), 1), result_columns(Grouping.SYMBOL), Format.JSON)
    (exported,) = json.loads(stream.getvalue())
    assert (exported["trades"], exported["wins"], exported["losses"]) == ("3", "2", "1")
    assert exported["wonPercent"].startswith("66.66")
    assert {"symbol", "gross", "fees", "funding", "net", "volume"} <= exported.keys()
