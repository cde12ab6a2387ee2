"""Totals per coin add up to the rows they are of, digit by digit."""

from __future__ import annotations

from collections import defaultdict
from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sandbox.signed_requests import Caller
from tradetui.trading.spot_totals import NOT_NAMED, added, coins_of
from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
from tradetui.wire.models.subaccounts import SubaccountTransfer

EXACT = Context(prec=400)


def fill(**fields: object) -> SpotFill:
    row = {
        "symbol": "BTCUSDT",
        "tradeId": "1",
        "side": "buy",
        "priceAvg": "50000",
        "size": "0.1",
        "amount": "5000",
        "cTime": "1790000000000",
        "feeDetail": {"feeCoin": "BTC", "totalFee": "-0.0001"},
    }
    return SpotFill.from_row(row | fields)


def bill(coin: str, business: str | None, size: str, fees: str = "0") -> SpotBill:
    row = {"coin": coin, "businessType": business, "size": size, "fees": fees, "billId": "1", "cTime": "1790000000000"}
    return SpotBill.from_row(row)


def test_a_buy_brings_the_base_coin_and_costs_the_quote_coin_and_the_fee() -> None:
    totals = added({}, [fill(), fill(side="SELL", size="0.04", amount="2100", feeDetail=[])])
    assert (totals["BTC"].received, totals["BTC"].paid, totals["BTC"].fees) == (
        Decimal("0.1"),
        Decimal("0.04"),
        Decimal("-0.0001"),
    )
    assert (totals["USDT"].received, totals["USDT"].paid, totals["USDT"].fees) == (
        Decimal(2100),
        Decimal(5000),
        Decimal(0),
    )
    assert (totals["BTC"].rows, totals["USDT"].rows) == (2, 2)


def test_an_amount_that_is_not_sent_is_size_times_price_and_a_fee_may_be_in_a_third_coin() -> None:
    totals = added({}, [fill(amount="", feeDetail={"feeCoin": "BGB", "totalFee": "-0.5"})])
    assert totals["USDT"].paid == 5000
    assert totals["BGB"].fees == Decimal("-0.5")


@pytest.mark.parametrize(
    ("symbol", "fee_coin", "coins"),
    [
        ("BTCUSDT", None, ("BTC", "USDT")),
        ("ethbtc", None, ("ETH", "BTC")),
        ("USDCUSDT", None, ("USDC", "USDT")),
        ("BTCUSDT", "BGB", ("BTC", "USDT")),
        ("ETHBTC", "ETH", ("ETH", "BTC")),
        ("USDCUSDT", "USDC", ("USDC", "USDT")),
        ("DOTUSD", "DOT", ("DOT", "USD")),
        ("DOTUSD", "USD", ("DOT", "USD")),
        ("BTCTUSD", "BTC", ("BTC", "TUSD")),
        ("USDT", "USDT", None),
        ("AAAZZZ", "ZZZ", ("AAA", "ZZZ")),
        ("AAAZZZ", "AAA", ("AAA", "ZZZ")),
        ("AAAZZZ", "BGB", None),
        ("USDT", None, None),
        ("", "", None),
    ],
)
def test_the_coins_of_a_pair(symbol: str, fee_coin: str | None, coins: tuple[str, str] | None) -> None:
    assert coins_of(symbol, [] if fee_coin is None else [fee_coin]) == coins


def test_a_pair_nobody_can_split_is_counted_under_its_own_name() -> None:
    totals = added({}, [fill(symbol="AAAZZZ", feeDetail=None)])
    assert totals.keys() == {"AAAZZZ base", "AAAZZZ quote"}
    assert totals["AAAZZZ base"].received == Decimal("0.1")


def test_bills_give_received_paid_fees_and_movement_by_business_type_in_either_dialect() -> None:
    rows = [bill("USDT", "buy", "-100", "-0.1"), bill("USDT", "SELL", "40"), bill("USDT", "TRANSFER_OUT", "-7")]
    total = added({}, [*rows, bill("USDT", None, "1")])["USDT"]
    assert (total.received, total.paid, total.fees) == (Decimal(41), Decimal(107), Decimal("-0.1"))
    assert total.movements == {"buy": -100, "SELL": 40, "TRANSFER_OUT": -7, NOT_NAMED: 1}


def test_a_converts_fee_has_no_coin() -> None:
    row = {"id": "1", "ts": "1790000000000", "fee": "0.02", "fromCoinSize": "10", "toCoinSize": "9.99"}
    totals = added({}, [ConvertRecord.from_row(row | {"fromCoin": "USDT", "toCoin": "USDC"})])
    assert (totals["USDT"].paid, totals["USDC"].received, totals[NOT_NAMED].fees) == (
        Decimal(10),
        Decimal("9.99"),
        Decimal("0.02"),
    )


def test_only_a_transfer_that_succeeded_is_counted_as_moved() -> None:
    def transfer(kind: str, status: str) -> SubaccountTransfer:
        return SubaccountTransfer.from_row(
            {"uid": "7", "txId": f"{kind}{status}", "coin": "USDT", "type": kind, "amount": "5", "status": status}
        )

    rows = [transfer("deposit", "success"), transfer("withdrawl", "success"), transfer("withdrawal", "pending")]
    assert added({}, rows)["USDT"].movements == {"deposit": 5, "withdrawl": -5, "withdrawal pending": -5}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["BTC", "USDT"]),
            st.sampled_from(["buy", "sell", "transfer-in", "rebate rewards"]),
            st.decimals(-(10**12), 10**12, places=18),
            st.decimals(-(10**6), 0, places=18),
        ),
        max_size=40,
    ),
    st.integers(0, 40),
)
def test_totals_are_the_sums_whatever_pages_the_rows_came_in(
    rows: list[tuple[str, str, Decimal, Decimal]], cut: int
) -> None:
    bills = [bill(coin, kind, str(size), str(fees)) for coin, kind, size, fees in rows]
    at_once, in_two = added({}, bills), added(added({}, bills[:cut]), bills[cut:])
    assert at_once == in_two
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for coin, kind, size, fees in rows:
        sums[coin, kind] = EXACT.add(sums[coin, kind], size)
        sums[coin, "fees"] = EXACT.add(sums[coin, "fees"], fees)
    for (coin, kind), expected in sums.items():
        assert (at_once[coin].fees if kind == "fees" else at_once[coin].movements[kind]) == expected


def test_the_totals_of_the_sandboxs_ledger_are_its_balances_change() -> None:
    rows = Caller().get("spot.bills", limit=500).rows
    assert rows, "the account has a past"
    totals = added({}, [SpotBill.from_row(row) for row in rows])
    for coin, total in totals.items():
        own = [row for row in rows if row["coin"] == coin]
        newest, oldest = own[0], own[-1]
        before = Decimal(oldest["balance"])
        after = Decimal(newest["balance"]) + Decimal(newest["size"]) + Decimal(newest["fees"])
        assert sum(total.movements.values(), total.fees) == after - before
