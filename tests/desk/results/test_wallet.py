"""What a wallet did beside trading and transfers: nothing on the embedded exchange, and every other word elsewhere."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal

import pytest

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import START_MS
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.coverage import BillCoverage, TimeSpan
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import Rates
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.results.period_query import Period, PeriodQuery
from tradetui.desk.results.period_results import read_period_results
from tradetui.desk.results.sums import result_lines
from tradetui.desk.results.wallet import WalletAudit, WalletMove, with_unexplained
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.results.periods import Grouping, day_at
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesBill

DAY_MS = 86_400_000
NOW_MS = START_MS + 3 * DAY_MS
COVERAGE = BillCoverage(START_MS - DAY_MS, NOW_MS)
OPENED = bill(1, START_MS, "open_long", "0", fee="-0.06", symbol="BTCUSDT", balance="999.94")


def moves_of(
    *bills: FuturesBill, coverage: BillCoverage = COVERAGE, since: int | None = None, until: int = NOW_MS
) -> list[WalletMove] | None:
    """The moves of that archive's wallet in a period."""
    archive = archive_with(*bills, coverage=coverage)
    query = ResultQuery(Grouping.COIN, NOW_MS, since, until, product_types=(USDT,))
    net = {row.coin: row.net for row in result_lines(archive.connection, query)}
    return WalletAudit(archive.connection, query).moves(*query.span, net)


def archive_with(*bills: FuturesBill, coverage: BillCoverage = COVERAGE) -> Archive:
    """An archive with one fill, whose fee of 0.06 the first bill tells of."""
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, START_MS))])
    while archive.advance_ledger():
        pass
    archive.note_read(USDT, NOW_MS)
    archive.add_bills(USDT, (OPENED, *bills), coverage)
    return archive


def move_of(*bills: FuturesBill, since: int | None = None, until: int = NOW_MS) -> WalletMove:
    moves = moves_of(*bills, since=since, until=until)
    assert moves is not None
    (move,) = moves
    return move


def test_trading_funding_and_transfers_explain_the_wallet() -> None:
    move = move_of(
        bill(2, START_MS + 5, "trans_from_exchange", "50", balance="1049.94"),
        bill(3, START_MS + 6, "contract_settle_fee", "-1", symbol="BTCUSDT", balance="1048.94"),
    )
    assert (move.moved, move.net, move.transfers, move.unexplained) == (
        Decimal("48.94"),
        Decimal("-1.06"),
        Decimal(50),
        Decimal(0),
    )


def test_other_words_and_bills_that_never_came_are_unexplained() -> None:
    move = move_of(bill(2, START_MS + 5, "cash_gift_issue", "7", balance="1006.94"))
    assert move.unexplained == 7
    move = move_of(bill(2, START_MS + 5, "contract_settle_fee", "-1", balance="995.94"))
    assert move.unexplained == -3, "the balance fell by more than the bills say"


def test_without_balances_the_bills_are_summed() -> None:
    move = move_of(bill(2, START_MS + 5, "bonus_issue", "7"), bill(3, START_MS + 6, "append_margin", "-100"))
    assert move.unexplained == 7


@pytest.mark.parametrize("balance", ["899.94", "999.94"])
def test_margin_that_goes_to_a_position_is_no_loss_however_balances_are_told(balance: str) -> None:
    move = move_of(bill(2, START_MS + 5, "append_margin", "-100", balance=balance))
    assert move.unexplained == 0


def test_a_period_begins_with_the_balance_of_the_bill_before() -> None:
    later = bill(2, START_MS + DAY_MS, "bonus_issue", "7", balance="1006.94")
    first = move_of(later, until=START_MS + DAY_MS - 1)
    assert (first.moved, first.net, first.unexplained) == (Decimal("-0.06"), Decimal("-0.06"), Decimal(0))
    second = move_of(later, since=START_MS + 9)
    assert (second.moved, second.net, second.unexplained) == (Decimal(7), Decimal(0), Decimal(7))


def test_what_is_not_read_is_not_known() -> None:
    assert moves_of(coverage=BillCoverage(refusal="no right")) is None
    assert moves_of(coverage=BillCoverage(START_MS + 1, NOW_MS)) is None, "the first fill lies before the first bill"
    gap = TimeSpan(START_MS + 2 * DAY_MS, START_MS + 2 * DAY_MS)
    with_gap = BillCoverage(START_MS - DAY_MS, NOW_MS, (gap,))
    assert moves_of(coverage=with_gap) is None
    assert moves_of(coverage=with_gap, until=START_MS + DAY_MS) is not None
    assert moves_of(since=NOW_MS - 1) is None, "the newest may still be on their way"


def test_what_came_after_both_were_read_does_not_count_yet() -> None:
    move = move_of(
        bill(2, NOW_MS - 1, "contract_settle_fee", "-1", symbol="BTCUSDT", balance="998.94"),
    )
    assert (move.moved, move.net, move.unexplained) == (Decimal("-0.06"), Decimal("-0.06"), Decimal(0))


def test_a_day_on_which_nothing_but_the_unexplained_happened_is_a_row() -> None:
    archive = archive_with(bill(2, START_MS + DAY_MS + 5, "some_charge", "-7", balance="992.94"))
    day_rows, symbol_rows, chosen_rows = (
        with_unexplained(archive.connection, query, result_lines(archive.connection, query))
        for query in (
            ResultQuery(Grouping.DAY, NOW_MS, product_types=(USDT,)),
            ResultQuery(Grouping.SYMBOL, NOW_MS, product_types=(USDT,)),
            ResultQuery(Grouping.DAY, NOW_MS, symbols=("BTCUSDT",), product_types=(USDT,)),
        )
    )
    assert [(row.coin, row.net, row.unexplained, row.is_complete) for row in day_rows] == [
        ("USDT", Decimal("-0.06"), Decimal(0), True),
        ("USDT", Decimal(0), Decimal(-7), True),
    ]
    assert [row.group for row in day_rows] == sorted(row.group for row in day_rows)
    assert [row.unexplained for row in (*symbol_rows, *chosen_rows)] == [None, None]
    period = Period(day_at(START_MS, UTC), day_at(NOW_MS, UTC))
    screen = read_period_results(archive.connection, PeriodQuery(period, NOW_MS, (USDT,), audits_days=True))
    beyond = {line.group: line.unexplained for line in screen.days}
    assert {row.group: row.unexplained for row in day_rows}.items() <= beyond.items(), "the screen says what pnl does"
    assert set(beyond.values()) == {Decimal(0), Decimal(-7)}


def test_a_day_whose_bills_are_not_all_read_has_nothing_said_of_its_wallet() -> None:
    gap = TimeSpan(START_MS + DAY_MS, START_MS + 2 * DAY_MS)
    archive = archive_with(coverage=COVERAGE._replace(gaps=(gap,)))
    for grouping, unexplained in ((Grouping.DAY, Decimal(0)), (Grouping.TOTAL, None)):
        query = ResultQuery(grouping, NOW_MS, product_types=(USDT,))
        (row,) = with_unexplained(archive.connection, query, result_lines(archive.connection, query))
        assert row.unexplained == unexplained


@pytest.mark.parametrize("grouping", [Grouping.TOTAL, Grouping.COIN, Grouping.DAY, Grouping.MONTH])
def test_fills_that_came_in_while_it_was_read_leave_nothing_unexplained(grouping: Grouping) -> None:
    archive = archive_with(coverage=COVERAGE._replace(until=NOW_MS - 60_000))
    archive.add(FuturesFill, [ProductRow(USDT, fill(2, NOW_MS + 5))])
    while archive.advance_ledger():
        pass
    query = ResultQuery(grouping, NOW_MS, product_types=(USDT,))
    rows = with_unexplained(archive.connection, query, result_lines(archive.connection, query))
    assert sum(row.net for row in rows) == Decimal("-0.12"), "both fills count"
    assert {row.unexplained for row in rows} == {Decimal(0)}


def test_trades_from_before_the_first_fill_that_is_known_are_not_called_unexplained() -> None:
    early = bill(0, START_MS - DAY_MS // 2, "close_long", "30", symbol="BTCUSDT", balance="1000")
    assert moves_of(early) is None
    archive = archive_with(early)
    for grouping, unexplained in ((Grouping.TOTAL, None), (Grouping.DAY, Decimal(0))):
        query = ResultQuery(grouping, NOW_MS, product_types=(USDT,))
        (row,) = with_unexplained(archive.connection, query, result_lines(archive.connection, query))
        assert row.unexplained == unexplained


def test_nothing_in_a_coin_gives_its_decimals_to_no_sum() -> None:
    nothing, rates = Decimal("0E-18"), Rates({"ETH": Decimal("2941.200000")})
    assert [
        str(rates.in_usdt(amounts)) for amounts in ({"ETH": nothing}, {"USDT": Decimal("-1.5"), "ETH": nothing})
    ] == [
        "0",
        "-1.5",
    ]
    assert rates.in_usdt({"XRP": nothing}) == 0 and rates.in_usdt({"XRP": Decimal(1)}) is None
