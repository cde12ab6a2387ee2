"""The figures of a period as they read: signs, shares, marks, and what is not known."""

from __future__ import annotations

import io
import json
from datetime import UTC, date
from decimal import Decimal

from tradetui.desk.results.period_query import Period
from tradetui.desk.results.period_results import PeriodResults, ResultFigures, ResultLine
from tradetui.desk.results.result_columns import held_text, result_columns, result_totals, sum_of
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.cells.column import Footer, Tone
from tradetui.desk.tables.export import Format, write_rows
from tradetui.desk.tables.rows.row_source import MemoryRows, loaded_rows
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.result_sums import ResultSums
from tradetui.ui.money.result_panel import FigureRow, Opens, result_rows
from tradetui.ui.table.sort_filter import SortFilter
from tradetui.ui.table.table_lines import footer_parts

TODAY = date(2026, 11, 21)
NOW_MS = 1_795_276_800_000


def figures(net: str = "6", *, is_complete: bool = True, is_converted: bool = False) -> ResultFigures:
    return ResultFigures(
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


def lines_of(total: ResultFigures, *days: ResultLine, orders_complete: bool = True) -> dict[str, FigureRow]:
    results = PeriodResults(
        period=Period(date(2026, 10, 23), TODAY, UTC),
        now_ms=NOW_MS,
        total=total,
        days=days,
        orders_complete=orders_complete,
    )
    return {line.name.strip(): line for line in result_rows(results, CellFormat(today=TODAY))}


def day(number: int, net: str) -> ResultLine:
    of_day = date(2026, 11, number)
    return ResultLine(of_day.isoformat(), "USDT", figures(net), of_day)


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


def test_a_gap_and_a_conversion_mark_what_they_touch() -> None:
    lines = lines_of(figures(is_complete=False, is_converted=True))
    assert (lines["Gross"].amount, lines["Gross"].mark) == ("~+8.00", "?")
    assert (lines["Closed orders"].amount, lines["Closed orders"].mark) == ("3", "?")
    assert lines["won"].right_note == "~+6.00"
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


def test_totals_sum_every_column_in_one_coin_only() -> None:
    lines = [ResultLine("BTCUSDT", "USDT", figures("6")), ResultLine("BTCUSD", "USDT", figures("3", is_converted=True))]
    totals = result_totals(lines, DEFAULT_FORMAT, "symbol")
    assert totals["symbol"] == ("2", Tone.PLAIN)
    assert totals["net"] == ("~+9.00", Tone.GAIN)
    assert totals["trades"][0] == "6"
    assert totals["wonPercent"][0] == "66.67"
    assert result_totals([*lines, ResultLine("BTC", "BTC", figures())], DEFAULT_FORMAT, "coin") == {}


def test_a_filter_leaves_the_sum_of_the_rows_that_are_shown() -> None:
    symbols = ("BTCUSDT", "ETHUSDT", "ETHUSD")
    lines = [ResultLine(symbol, "USDT", figures(str(net))) for net, symbol in enumerate(symbols, 1)]
    narrowing = SortFilter(result_columns(Grouping.SYMBOL), DEFAULT_FORMAT)
    narrowing.pattern = "ETH"
    shown = list(loaded_rows(narrowing.view_of(MemoryRows(lines, symbols, 1)).rows))
    footer = Footer(result_totals(shown, DEFAULT_FORMAT, "symbol"))
    assert (footer.totals["symbol"][0], footer.totals["net"][0]) == ("2", "+5.00")
    has_rule, has_totals, _ = footer_parts(footer, len(shown), 5)
    assert has_totals
    assert has_rule


def test_funding_that_is_not_known_of_one_is_not_known_of_all() -> None:
    assert sum_of([ResultFigures(funding=Decimal(1)), ResultFigures()]).funding is None
    assert sum_of([ResultFigures(funding=Decimal(1)), ResultFigures(funding=Decimal(2))]).funding == 3
    assert not sum_of([ResultFigures(is_complete=False), ResultFigures()]).is_complete


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
    line = ResultLine("BTCUSDT", "USDT", figures())
    stream = io.StringIO()
    write_rows(stream, MemoryRows((line,), ("BTCUSDT",), 1), result_columns(Grouping.SYMBOL), Format.JSON)
    (exported,) = json.loads(stream.getvalue())
    assert (exported["trades"], exported["wins"], exported["losses"]) == ("3", "2", "1")
    assert exported["wonPercent"].startswith("66.66")
    assert {"symbol", "gross", "fees", "funding", "net", "volume"} <= exported.keys()
