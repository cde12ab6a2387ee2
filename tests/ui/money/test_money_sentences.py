"""What the screen of results says beside its figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

from tradetui.desk.archive.equity import EquitySample
from tradetui.desk.archive.ledger.missing_fills import MissingSpan
from tradetui.desk.results.equity_of_period import EquityOfPeriod
from tradetui.desk.results.period_query import Period
from tradetui.desk.results.period_results import PeriodResults
from tradetui.desk.results.sums import ResultLine
from tradetui.desk.results.today import TodayResult
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.trading.results.returns import CashFlow, CurvePoint
from tradetui.trading.results.trips import ResultSums
from tradetui.ui.key_bindings.actions import key_named
from tradetui.ui.money.chart_panel import equity_chart
from tradetui.ui.money.result_panel import (
    PeriodReading,
    funding_beyond_fills,
    nothing_sentence,
    open_change_reason,
    period_sentences,
    today_reason,
    wallet_sentence,
)
from tradetui.wire.product_types import ProductType

DAY_MS = 86_400_000
SINCE = 1_792_713_600_000
"""2026-10-23 00:00 UTC."""
NOW_MS = SINCE + 29 * DAY_MS + DAY_MS // 2
TODAY = date(2026, 11, 21)
PERIOD = Period(date(2026, 10, 23), TODAY, UTC)
RESULTS = PeriodResults(
    period=PERIOD,
    now_ms=NOW_MS,
    total=ResultLine(sums=ResultSums(gross=Decimal("8412.60"), fees=Decimal("-1986.44")), funding=Decimal("-318.09")),
    equity=EquityOfPeriod(transfers=(CashFlow(SINCE + DAY_MS, Decimal(2000)),)),
    unexplained=Decimal("1.12"),
)


def gap(since: int, until: int) -> MissingSpan:
    return MissingSpan(ProductType.USDT_FUTURES, since, until)


def wallet_line(results: PeriodResults, bills_refused: str = "") -> str:
    return wallet_sentence(results, DEFAULT_FORMAT, bills_refused)


def test_the_wallet_s_move_is_told_with_what_it_is_made_of() -> None:
    assert wallet_line(RESULTS) == "Wallet moved +8,109.19: net +6,108.07, transfers +2,000.00, unexplained +1.12"


def test_funding_stands_beside_the_fills_that_do_not_show_it() -> None:
    def beside(funding: str | None, *, is_complete: bool = True, coin: str = "USDT") -> str:
        amount = None if funding is None else Decimal(funding)
        return funding_beyond_fills(ResultLine(coin=coin, funding=amount, is_complete=is_complete), DEFAULT_FORMAT)

    assert beside("-14.86") == "funding -14.86 USDT"
    assert beside("-14.86", is_complete=False) == "funding -14.86? USDT"
    assert beside("0.00012", coin="BTC").endswith(" BTC")
    assert beside(None) == "funding that is not known"
    assert beside("0") == ""
    assert funding_beyond_fills(None, DEFAULT_FORMAT) == ""


def test_a_gap_is_named_by_its_times() -> None:
    begin = SINCE + 21 * DAY_MS + 6 * 3_600_000
    results = replace(RESULTS, missing=(gap(begin, begin + 4_200_000),))
    assert wallet_line(results).endswith(" · ? fills from 13 Nov 06:00 to 07:10 are being read")
    older = replace(RESULTS, missing=(gap(0, begin), gap(begin, begin + 1)))
    assert wallet_line(older).endswith(" · ? fills before 13 Nov 06:00 and 1 more are being read")
    lost = replace(older, missing=(*older.missing, gap(begin - DAY_MS, begin)._replace(is_lost=True)))
    assert wallet_line(lost).endswith(
        "1 more are being read · ? fills from 12 Nov 06:00 to 13 Nov 06:00 are not kept by the exchange any longer"
    )
    nothing = replace(RESULTS, missing=(gap(0, NOW_MS),))
    assert wallet_line(nothing).endswith(" · ? fills of the whole period are being read")


def test_fills_without_fee_or_profit_are_counted() -> None:
    sums = replace(RESULTS.total.sums, incomplete_fills=2)
    total = replace(RESULTS.total, is_complete=False, sums=sums)
    assert wallet_line(replace(RESULTS, total=total)).endswith("+1.12 · ? no fee or profit given for 2 fills")


def test_without_bills_the_reason_is_told() -> None:
    without = replace(RESULTS, total=replace(RESULTS.total, funding=None), equity=EquityOfPeriod(), unexplained=None)
    assert wallet_line(without, "The exchange does not offer this") == (
        "Net +6,426.16 · funding and wallet not known: The exchange does not offer this"
    )
    assert wallet_line(without) == "Net +6,426.16 · funding and wallet not known: bills are being read"
    begun = replace(without, missing=(gap(0, SINCE + 21 * DAY_MS), gap(NOW_MS - 1, NOW_MS)))
    assert wallet_line(begun) == "Net +6,426.16 · ? fills before 13 Nov 00:00, 1 more and bills are being read"
    assert len(wallet_line(begun)) < 80
    assert wallet_line(replace(RESULTS, unexplained=None)) == "Net +6,108.07 · the wallet's move is not known"


def test_a_period_is_told_with_its_days_zone_and_symbols() -> None:
    assert period_sentences(PERIOD, None, (), TODAY) == (
        "Fri 23 Oct to Sat 21 Nov · a day ends at 00:00 UTC · in USDT · all symbols",
        "Fri 23 Oct to Sat 21 Nov · a day ends at 00:00 UTC",
        "Fri 23 Oct to Sat 21 Nov · UTC",
        "23 Oct to 21 Nov · UTC",
    )
    assert period_sentences(PERIOD, None, ("BTCUSDT",), TODAY) == (
        "Fri 23 Oct to Sat 21 Nov · a day ends at 00:00 UTC · in USDT · BTCUSDT",
        "Fri 23 Oct to Sat 21 Nov · BTCUSDT · a day ends at 00:00 UTC",
        "Fri 23 Oct to Sat 21 Nov · BTCUSDT · UTC",
        "23 Oct to 21 Nov · UTC · BTCUSDT",
    )
    of_today = Period(TODAY, TODAY, UTC)
    assert period_sentences(of_today, None, (), TODAY)[-1] == "21 Nov · UTC"
    assert period_sentences(of_today, None, (), date(2027, 1, 2))[-1] == "21 Nov 2026 · UTC", "of another year"
    everything = Period(None, TODAY, UTC)
    assert period_sentences(everything, date(2025, 11, 3), (), TODAY)[-1] == "3 Nov 2025 to 21 Nov · UTC"


def test_why_there_is_nothing_and_what_comes_next() -> None:
    reading, results = PeriodReading(UTC, NOW_MS), replace(RESULTS, missing=(gap(SINCE, NOW_MS),))
    key = partial(key_named, changed_keys={})
    reading.has_any = False
    assert "are being read" in nothing_sentence(reading, results, key)
    assert "has none to be read" in nothing_sentence(reading, RESULTS, key)
    reading.has_any = True
    assert "[ and ] choose another period" in nothing_sentence(reading, RESULTS, key)
    reading.choose_dates(DateFilter())
    assert nothing_sentence(reading, RESULTS, key).endswith("Esc goes back from these dates.")
    reading.choose_dates(DateFilter(symbols=("ZZZ",)))
    of_symbol = nothing_sentence(reading, RESULTS, key)
    assert of_symbol == "No fill of ZZZ in this period.\nEsc goes back from these dates."


def reason(equity: EquityOfPeriod, *symbols: str) -> str:
    return open_change_reason(replace(RESULTS, equity=equity), symbols)


def test_why_the_result_is_not_known_is_told_by_the_samples_of_equity() -> None:
    start, end = (EquitySample(at, Decimal(9000), Decimal(5)) for at in (SINCE, NOW_MS))
    assert reason(EquityOfPeriod()) == "— no equity was sampled"
    assert reason(EquityOfPeriod(sampled_from=SINCE + DAY_MS, end=end)) == "— no equity sample until 24 Oct 00:00"
    assert reason(EquityOfPeriod(start=start, sampled_from=SINCE)) == "— no equity sample near the end"
    untold = start._replace(unrealised=None)
    assert reason(EquityOfPeriod(start=untold, end=end)) == "— an account reports no open profit"
    assert reason(EquityOfPeriod(), "BTCUSDT") == "— equity is of the whole account"
    assert reason(EquityOfPeriod(start=start, end=end)) == ""


def test_why_the_header_has_no_result_of_today_or_one_of_a_part_of_it() -> None:
    whole_day = TodayResult(Decimal(7), None, is_complete=True)
    assert today_reason(None, "", UTC) == today_reason(whole_day, "", UTC) == ""
    assert today_reason(None, "no USDT value of BTC", UTC) == "today —: no USDT value of BTC"
    later = replace(whole_day, since=SINCE + 14 * 3_600_000 + 3 * 60_000)
    assert today_reason(later, "", UTC) == "today: from the first sample at 14:03"
    assert today_reason(later, "", ZoneInfo("Europe/Berlin")).endswith("16:03")


def test_the_sentence_under_the_equity_of_ninety_days_fits() -> None:
    def curve(first: int, last: int) -> tuple[CurvePoint, ...]:
        return tuple(CurvePoint(at, Decimal(9000), Decimal(1)) for at in (first, last))

    amounts = (5000, 4000, 3000, -2500, -1000, -1500, -500)
    transfers = tuple(CashFlow(SINCE + (20 + day) * DAY_MS, Decimal(amount)) for day, amount in enumerate(amounts))
    stretches = curve(SINCE + 20 * DAY_MS, SINCE + 21 * DAY_MS), curve(SINCE + 24 * DAY_MS, NOW_MS)
    equity = EquityOfPeriod(transfers=transfers, curve=stretches, sampled_from=SINCE + 20 * DAY_MS)
    long = replace(PERIOD, first_day=date(2026, 8, 24))
    below = equity_chart(replace(RESULTS, period=long, equity=equity), DEFAULT_FORMAT).below
    assert below == "▲ 3 in +12,000.00, 4 out -5,500.00 · since 12 Nov · gap: not running"
    assert len(below) <= 68
    deposits = replace(RESULTS, period=long, equity=replace(equity, transfers=transfers[:3]))
    assert equity_chart(deposits, DEFAULT_FORMAT).below.startswith("▲ 3 deposits +12,000.00 · ")


def test_equity_of_chosen_symbols_is_not_called_unsampled() -> None:
    chart = equity_chart(replace(RESULTS, equity=EquityOfPeriod()), DEFAULT_FORMAT, ("ZZZ",))
    assert chart.content == "Equity is of the whole account:\nit is not shown for chosen symbols."
    unsampled = equity_chart(replace(RESULTS, equity=EquityOfPeriod()), DEFAULT_FORMAT)
    assert str(unsampled.content).startswith("No equity was sampled")
