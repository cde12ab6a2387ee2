"""Bills in the archive: each counts once, funding joins the results, transfers are told apart."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.ledger_histories import START_MS
from tests.desk.fixtures.scripted_exchange import COIN, USDT
from tradetui.desk.archive.bills import Transfer, bill_coverage, transfers
from tradetui.desk.archive.coverage import BillCoverage, TimeSpan
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery, bills_behind
from tradetui.desk.results.sums import result_lines
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.results.booking import QUARTER_MS, BillKind, bill_kind
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesBill
from tradetui.wire.product_types import ProductType

DAY_MS = 86_400_000
ALL = BillCoverage(START_MS - DAY_MS, START_MS + 9 * DAY_MS)
NOW_MS = START_MS + 3 * DAY_MS
HOUR_MS = 3_600_000
FULL_HOUR_MS = -(-START_MS // HOUR_MS) * HOUR_MS


def archive_with(*bills: FuturesBill, coverage: BillCoverage = ALL) -> Archive:
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, START_MS)), ProductRow(USDT, fill(2, START_MS + 2 * DAY_MS))])
    while archive.advance_ledger():
        pass
    archive.note_read(USDT, NOW_MS)
    archive.add_bills(USDT, bills, coverage)
    return archive


def funding_of(
    archive: Archive, grouping: Grouping = Grouping.TOTAL, since: int | None = None, until: int | None = None
) -> dict[str, Decimal | None]:
    query = ResultQuery(grouping, NOW_MS, since, until, product_types=(USDT,))
    return {row.group: row.funding for row in result_lines(archive.connection, query)}


def test_funding_counts_once_by_its_id_and_is_part_of_net() -> None:
    bills = [
        bill(1, START_MS + 1_000, "contract_settle_fee", "-0.25", symbol="BTCUSDT"),
        bill(2, START_MS + 1_000, "contract_settle_fee", "0.05", symbol="ETHUSDT"),
        bill(3, START_MS + DAY_MS, "contract_settle_fee", "-0.1", symbol="BTCUSDT"),
    ]
    archive = archive_with(*bills)
    archive.add_bills(USDT, bills[:2], ALL)
    (row,) = result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS, product_types=(USDT,)))
    assert (row.funding, row.net) == (Decimal("-0.3"), row.sums.net + Decimal("-0.3"))
    assert funding_of(archive, Grouping.SYMBOL) == {"BTCUSDT": Decimal("-0.35"), "ETHUSDT": Decimal("0.05")}
    days = funding_of(archive, Grouping.DAY)
    assert list(days.values()) == [Decimal("-0.2"), Decimal("-0.1"), 0], "a day with funding alone has a row"


def test_of_a_bill_that_comes_again_with_other_figures_the_later_read_counts() -> None:
    first = bill(1, START_MS + 1_000, "contract_settle_fee", "-25", symbol="BTCUSDT", balance="75")
    other = bill(2, START_MS + 2_000, "contract_settle_fee", "-1", symbol="BTCUSDT", balance="74")
    archive = archive_with(first, other)
    assert funding_of(archive) == {"": Decimal(-26)}
    corrected = bill(1, START_MS + DAY_MS, "contract_settle_fee", "-2", symbol="ETHUSDT", balance="98")
    for _ in range(2):
        archive.add_bills(USDT, (corrected, other), ALL)
    assert funding_of(archive, Grouping.SYMBOL) == {"BTCUSDT": Decimal(-1), "ETHUSDT": Decimal(-2)}
    assert archive.connection.execute("SELECT count(*), min(balance) FROM bill").fetchone() == (2, "74")
    archive.add_bills(USDT, (bill(1, START_MS + 1_000, "trans_from_exchange", "9"),), ALL)
    assert funding_of(archive) == {"": Decimal(-1)}


@pytest.mark.parametrize(
    ("since", "until"), [(500, 1_500), (1_000, 1_000), (-QUARTER_MS, 2 * QUARTER_MS), (1_000, QUARTER_MS)]
)
def test_funding_within_a_period_counts_wherever_the_period_begins(since: int, until: int) -> None:
    archive = archive_with(
        bill(1, START_MS + 1_000, "contract_settle_fee", "-0.25"),
        bill(2, START_MS + 2 * DAY_MS, "contract_settle_fee", "9"),
    )
    assert funding_of(archive, since=START_MS + since, until=START_MS + until) == {"": Decimal("-0.25")}


def test_funding_is_not_known_where_bills_were_not_read() -> None:
    funding = bill(1, START_MS + 1_000, "contract_settle_fee", "-0.25")
    assert funding_of(archive_with(coverage=BillCoverage(refusal="not permitted"))) == {"": None}
    late = BillCoverage(START_MS + DAY_MS, NOW_MS)
    assert list(funding_of(archive_with(funding, coverage=late), Grouping.DAY).values()) == [None, 0]
    gap = BillCoverage(START_MS - DAY_MS, NOW_MS, (TimeSpan(FULL_HOUR_MS + 2 * DAY_MS, FULL_HOUR_MS + 2 * DAY_MS + 5),))
    assert list(funding_of(archive_with(funding, coverage=gap), Grouping.DAY).values()) == [Decimal("-0.25"), None]
    row = next(iter(result_lines(archive_with(coverage=late).connection, ResultQuery(Grouping.TOTAL, NOW_MS))))
    assert row.net == row.sums.net


@pytest.mark.parametrize(
    ("read_until", "fills_until", "is_known"),
    [
        (-3_000_000, -200_000, True),
        (-3_000_000, 300_000, False),
        (301_000, 3_000_000, True),
        (30_000, 3_000_000, False),
    ],
)
def test_funding_stays_known_until_a_settlement_may_have_come(
    read_until: int, fills_until: int, is_known: bool
) -> None:
    hour_ms = FULL_HOUR_MS + 3 * DAY_MS
    funding = bill(1, START_MS + 1_000, "contract_settle_fee", "-0.25")
    archive = archive_with(funding, coverage=BillCoverage(START_MS - DAY_MS, hour_ms + read_until))
    archive.note_read(USDT, hour_ms + fills_until)
    query = ResultQuery(Grouping.TOTAL, hour_ms + fills_until + 1, product_types=(USDT,))
    (row,) = result_lines(archive.connection, query)
    assert row.funding == (Decimal("-0.25") if is_known else None)
    assert bills_behind(archive.connection, USDT, hour_ms + fills_until) is not is_known
    assert not bills_behind(archive.connection, USDT, NOW_MS), "a period that ends before asks for no more"


@pytest.mark.parametrize(("earlier_ms", "is_complete"), [(None, True), (HOUR_MS // 2, True), (2 * HOUR_MS, False)])
def test_what_lies_before_all_that_the_exchange_told_is_not_complete(earlier_ms: int | None, is_complete: bool) -> None:
    covered_from = START_MS - DAY_MS
    since = None if earlier_ms is None else covered_from - earlier_ms
    archive = archive_with(coverage=BillCoverage(covered_from, NOW_MS))
    (row,) = result_lines(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS, since, product_types=(USDT,)))
    assert row.is_complete is is_complete


def test_transfers_are_those_between_the_owners_accounts_oldest_first() -> None:
    archive = archive_with(
        bill(3, START_MS + 30, "trans_to_contract", "-5"),
        bill(1, START_MS + 10, "trans_from_exchange", "100"),
        bill(2, START_MS + 20, "cash_gift_issue", "7"),
        bill(4, START_MS + 40, "append_margin", "-3"),
    )
    moved = list(transfers(archive.connection, (USDT, COIN), START_MS, START_MS + 30))
    assert moved == [
        Transfer(START_MS + 10, "USDT", Decimal(100), Decimal(100)),
        Transfer(START_MS + 30, "USDT", Decimal(-5), Decimal(-5)),
    ]
    assert list(transfers(archive.connection, (COIN,), 0, NOW_MS)) == []


def test_a_coin_is_worth_the_price_of_the_fill_nearest_in_time() -> None:
    archive = Archive(None)
    prices = ((1, START_MS, "80000"), (2, START_MS + 60_000, "90000"))
    fills = [fill(number, at_ms, symbol="BTCUSD", price=price) for number, at_ms, price in prices]
    archive.add(FuturesFill, [ProductRow(COIN, row) for row in fills])
    rows = [
        bill(1, START_MS + 20_000, "trans_from_exchange", "0.5", coin="BTC"),
        bill(2, START_MS + 40_000, "trans_to_exchange", "-0.5", coin="BTC"),
        bill(3, START_MS + 40_000, "trans_to_exchange", "-1", coin="ETH"),
    ]
    archive.add_bills(COIN, rows, ALL)
    amounts = [transfer.amount_in_usd for transfer in transfers(archive.connection, (COIN,), START_MS, NOW_MS)]
    assert amounts == [Decimal(40_000), Decimal(-45_000), None]


def test_how_far_bills_are_read_is_kept() -> None:
    coverage = BillCoverage(5, 90, (TimeSpan(50, 60), TimeSpan(10, 20)), "refused")
    assert bill_coverage(archive_with(coverage=coverage).connection, USDT) == coverage
    assert bill_coverage(archive_with().connection, ProductType.USDC_FUTURES) == BillCoverage()
    assert [coverage.holds(21, 49), coverage.holds(21, 50), coverage.holds(4, 9), coverage.holds(61, 91)] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("contract_settle_fee", BillKind.FUNDING),
        ("Trans_From_Exchange", BillKind.TRANSFER),
        ("trans_to_strategy", BillKind.TRANSFER),
        ("transfer_to_future_copytrade", BillKind.TRANSFER),
        ("open_long", BillKind.TRADE),
        ("burst_short_loss_query", BillKind.TRADE),
        ("offset_close_long", BillKind.TRADE),
        ("sell", BillKind.TRADE),
        ("auto_append_margin", BillKind.MARGIN),
        ("cash_gift_issue", BillKind.OTHER),
        ("risk_captital_user_transfer", BillKind.OTHER),
        ("", BillKind.OTHER),
    ],
)
def test_kinds_of_bills(word: str, kind: BillKind) -> None:
    assert bill_kind(word) is kind
