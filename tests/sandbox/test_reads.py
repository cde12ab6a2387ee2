"""Reading, rule by rule: what is accepted, what is refused, and what comes back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.exchange_events import open_position
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Answered, Caller
from tests.wire.model_rows import ROWS
from tradetui.sandbox.handlers.rules import BUSINESS_TYPES, GROUP_TYPES
from tradetui.wire.endpoints.catalogue import CATALOGUE

USDT = {"productType": "USDT-FUTURES"}
PLAN = {**USDT, "planType": "normal_plan"}
SPAN = {"startTime": NOW_MS - 30 * DAY_MS, "endTime": NOW_MS}
BASE: dict[str, tuple[str, dict[str, Any]]] = {
    "spot.fills": ("hedge", {}),
    "broker.transfers": ("broker", {"startTime": NOW_MS - 7 * DAY_MS, "endTime": NOW_MS}),
    "futures.triggers": ("hedge", PLAN),
    "convert.history": ("hedge", {"startTime": NOW_MS - 90 * DAY_MS, "endTime": NOW_MS}),
    "spot.bills": ("hedge", {}),
    "futures.pending_orders": ("hedge", USDT),
    "futures.fills": ("hedge", USDT),
}
PAGED = pytest.mark.parametrize("name", BASE)


def read(caller: Caller, name: str, **more: Any) -> Answered:
    account, parameters = BASE[name]
    return caller.get(name, account, **{**parameters, **more})


def row_id(name: str, row: dict[str, Any]) -> str:
    rule = CATALOGUE[name].page
    assert rule is not None
    return str(row[rule.row_field if rule.cursor_field == "endId" else rule.cursor_field])


@PAGED
def test_pages_are_exclusive_and_lose_nothing(reading: Caller, name: str) -> None:
    whole = read(reading, name).rows
    paged: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while rows := read(reading, name, limit=7, **cursor).rows:
        paged += rows
        cursor = {"idLessThan": row_id(name, rows[-1])}
        if len(paged) >= len(whole):
            break
    assert paged[: len(whole)] == whole
    assert len({row_id(name, row) for row in paged}) == len(paged)


@PAGED
def test_page_sizes(reading: Caller, name: str) -> None:
    rule = CATALOGUE[name].page
    assert rule is not None
    assert len(read(reading, name).rows) <= rule.default
    assert len(read(reading, name, limit=3).rows) <= 3
    for wrong in ("0", "-1", "x", "1.5"):
        assert read(reading, name, limit=wrong).code == "40020", wrong
    beyond = read(reading, name, limit=rule.maximum + 1)
    assert beyond.code == ("00000" if rule.capped else "40058")


def test_defaults_and_maxima_are_the_documents(reading: Caller) -> None:
    assert len(read(reading, "futures.fills").rows) == 100
    assert len(read(reading, "convert.history").rows) == 20
    assert len(read(reading, "convert.history", limit=100).rows) == 100
    assert len(read(reading, "spot.bills", limit=500).rows) > 300
    assert len(read(reading, "broker.transfers", limit=101).rows) <= 100


def test_end_id_is_the_last_rows(reading: Caller) -> None:
    for name in ("futures.fills", "futures.triggers", "convert.history", "broker.transfers", "futures.pending_orders"):
        answer = read(reading, name, limit=5)
        assert answer.data["endId"] == row_id(name, answer.rows[-1]), name


@PAGED
def test_a_page_beyond_the_last_is_empty(reading: Caller, name: str) -> None:
    cursor = "2" if name == "broker.transfers" else "1"
    assert read(reading, name, idLessThan=cursor).rows == []


def test_transfers_take_one_as_the_first_page(reading: Caller) -> None:
    assert read(reading, "broker.transfers", idLessThan="1").rows == read(reading, "broker.transfers").rows


@pytest.mark.parametrize(
    ("name", "days", "code"),
    [
        ("spot.fills", 90, "00000"),
        ("spot.fills", 91, "00001"),
        ("spot.bills", 90, "00000"),
        ("spot.bills", 91, "00001"),
        ("convert.history", 90, "00000"),
        ("convert.history", 91, "00001"),
        ("broker.transfers", 7, "00000"),
        ("broker.transfers", 8, "00001"),
        ("futures.triggers", 90, "00000"),
        ("futures.triggers", 91, "00001"),
        ("futures.fills", 90, "00000"),
        ("futures.fills", 91, "00001"),
        ("futures.pending_orders", 91, "00001"),
    ],
)
def test_spans(reading: Caller, name: str, days: int, code: str) -> None:
    answer = read(reading, name, startTime=NOW_MS - days * DAY_MS, endTime=NOW_MS)
    assert answer.code == code


@PAGED
def test_start_after_end_and_words_that_are_no_time(reading: Caller, name: str) -> None:
    assert read(reading, name, startTime=NOW_MS, endTime=NOW_MS - 1).code == "40707"
    assert read(reading, name, startTime="soon", endTime=NOW_MS).code == "40017"


def test_both_times_or_neither_at_transfers(reading: Caller) -> None:
    for name, value in (("startTime", NOW_MS - DAY_MS), ("endTime", NOW_MS)):
        assert reading.get("broker.transfers", "broker", **{name: value}).code == "40017"


def test_transfers_without_times_are_those_of_the_day_before(reading: Caller) -> None:
    midnight = NOW_MS - NOW_MS % DAY_MS
    rows = reading.get("broker.transfers", "broker").rows
    expected = read(reading, "broker.transfers", startTime=midnight - DAY_MS, endTime=midnight - 1).rows
    assert rows == expected


def test_convert_needs_both_times(reading: Caller) -> None:
    assert reading.get("convert.history").code == "40019"
    assert reading.get("convert.history", startTime=NOW_MS - DAY_MS).code == "40019"


def test_an_ordinary_account_is_no_broker(reading: Caller) -> None:
    assert reading.get("broker.transfers").code == "40029"
    assert reading.get("broker.subaccount_email", subUid="4200000001").code == "40029"


@pytest.mark.parametrize(
    ("word", "kind"), [("deposit", {"deposit"}), ("withdrawl", {"withdrawl"}), ("all", {"deposit", "withdrawl"})]
)
def test_transfer_types(reading: Caller, word: str, kind: set[str]) -> None:
    assert {row["type"] for row in read(reading, "broker.transfers", type=word).rows} == kind
    assert read(reading, "broker.transfers", type="withdrawal").code == "40020"


def test_without_status_only_live_orders_come(reading: Caller) -> None:
    assert {row["status"] for row in read(reading, "futures.pending_orders").rows} == {"live"}
    partly = read(reading, "futures.pending_orders", status="partially_filled").rows
    assert partly and {row["status"] for row in partly} == {"partially_filled"}
    assert read(reading, "futures.pending_orders", status="filled").code == "40020"


def test_an_order_older_than_any_window_is_still_found(reading: Caller) -> None:
    oldest = min(int(row["cTime"]) for row in read(reading, "futures.pending_orders").rows)
    assert oldest < NOW_MS - 100 * DAY_MS


@pytest.mark.parametrize("name", ["futures.pending_orders", "futures.triggers"])
def test_order_id_prevails_over_client_oid(reading: Caller, name: str) -> None:
    one, two = read(reading, name).rows[:2]
    by_id = read(reading, name, orderId=one["orderId"], clientOid=two["clientOid"]).rows
    assert [row["orderId"] for row in by_id] == [one["orderId"]]
    by_client = read(reading, name, clientOid=two["clientOid"]).rows
    assert [row["orderId"] for row in by_client] == [two["orderId"]]


def test_plan_types(reading: Caller) -> None:
    assert reading.get("futures.triggers", **USDT).code == "40019"
    assert reading.get("futures.triggers", **USDT, planType="profit_plan").code == "40020"
    family = {row["planType"] for row in reading.get("futures.triggers", **USDT, planType="profit_loss").rows}
    assert family == {"profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss"}
    for status in ("executed", "fail_execute", "cancelled"):
        rows = read(reading, "futures.triggers", planStatus=status).rows
        assert rows and {row["planStatus"] for row in rows} == {status}
    assert read(reading, "futures.triggers", planStatus="live").code == "40020"


def test_product_types_and_symbols_in_any_case(reading: Caller) -> None:
    lower = reading.get("futures.fills", productType="usdt-futures", symbol="btcusdt").rows
    assert lower == reading.get("futures.fills", productType="USDT-FUTURES", symbol="BTCUSDT").rows
    assert lower and {row["symbol"] for row in lower} == {"BTCUSDT"}
    assert reading.get("futures.fills").code == "40019"
    assert reading.get("futures.fills", productType="EUR-FUTURES").code == "40020"
    assert reading.get("futures.fills", productType="SUSDT-FUTURES").code == "40309"


def test_a_managed_account_has_nothing_before_its_binding(reading: Caller) -> None:
    for name in ("futures.fills", "futures.triggers", "spot.fills"):
        parameters = BASE[name][1]
        early = reading.get(name, "managed", **parameters, startTime=NOW_MS - 31 * DAY_MS, endTime=NOW_MS)
        assert early.code == "40408", name
        late = reading.get(name, "managed", **parameters, startTime=NOW_MS - 29 * DAY_MS, endTime=NOW_MS)
        assert late.code == "00000", name


@pytest.mark.parametrize("group", sorted(GROUP_TYPES))
def test_group_types(reading: Caller, group: str) -> None:
    rows = read(reading, "spot.bills", groupType=group).rows
    assert {row["groupType"] for row in rows} <= {group}
    assert read(reading, "spot.bills", groupType="fiat").code == "40020", "the interface writes fait"


@pytest.mark.parametrize("business", BUSINESS_TYPES)
def test_business_types(reading: Caller, business: str) -> None:
    rows = read(reading, "spot.bills", businessType=business).rows
    assert {row["businessType"] for row in rows} <= {business}


def test_coin_filter(reading: Caller) -> None:
    rows = read(reading, "spot.bills", coin="btc").rows
    assert rows and {row["coin"] for row in rows} == {"BTC"}


def test_minimum_of_data(reading: Caller) -> None:
    exchange_state, uid = reading.sandbox.exchange_state, reading.key("hedge").uid
    for name in ("hedge", "one-way"):
        uid = reading.key(name).uid
        assert len(exchange_state.rows(uid, "orders", "USDT-FUTURES")) >= 20
        assert len(exchange_state.rows(uid, "fills", "USDT-FUTURES")) >= 2000
        triggers = exchange_state.rows(uid, "triggers", "USDT-FUTURES")
        assert len(triggers) >= 300
        kinds = {(row["planType"], row["planStatus"]) for row in triggers}
        assert len(kinds) == 7 * 3, "every plan type in every status"
        oldest = min(int(row["cTime"]) for row in exchange_state.rows(uid, "fills", "USDT-FUTURES"))
        assert oldest < NOW_MS - 85 * DAY_MS
    check_books(exchange_state)


def test_dialects() -> None:
    document, live = Caller(dialect="documented"), Caller(dialect="live")
    assert document.get("spot.bills").body["message"] == live.get("spot.bills").body["msg"] == "success"
    first, second = document.get("spot.fills").rows[0], live.get("spot.fills").rows[0]
    assert int(first["cTime"]) == int(second["cTime"]) // 1000
    bill, live_bill = document.get("spot.bills").rows[0], live.get("spot.bills").rows[0]
    assert live_bill["businessType"] == bill["businessType"].upper().replace("-", "_").replace(" ", "_")
    assert live_bill["balance"] != bill["balance"], "after the movement, not before it"
    span = {"startTime": NOW_MS - 7 * DAY_MS, "endTime": NOW_MS}
    assert live.get("broker.transfers", "broker", **span, type="withdrawal").rows
    assert live.get("broker.transfers", "broker", **span, type="withdrawl").code == "40020"
    assert live.get("futures.fills", **USDT, idLessThan="1").data == {"fillList": None, "endId": None}
    assert "unionTotalMagin" in document.get("futures.accounts", **USDT).rows[0]
    assert "unionTotalMargin" in live.get("futures.accounts", **USDT).rows[0]


@pytest.mark.parametrize("name", ["futures.triggers", "futures.fills", "futures.pending_orders"])
def test_one_end_that_is_missing_is_three_months_away(reading: Caller, name: str) -> None:
    plan = {"planType": "normal_plan"} if name == "futures.triggers" else {}

    def times(**span: int) -> list[int]:
        parameters: dict[str, Any] = {"productType": "USDT-FUTURES", **plan, **span}
        rows = reading.get(name, "hedge", **parameters).rows
        return [int(row["cTime"]) for row in rows]

    start = NOW_MS - 120 * DAY_MS
    without_end = times(startTime=start)
    assert without_end == times(startTime=start, endTime=start + 90 * DAY_MS)
    assert all(start <= moment <= start + 90 * DAY_MS for moment in without_end)
    end = NOW_MS - 5 * DAY_MS
    without_start = times(endTime=end)
    assert without_start == times(startTime=NOW_MS - 90 * DAY_MS, endTime=end)
    assert without_start and max(without_start) <= end


def created_subaccount(caller: Caller, name: str = "abcdefgh", owner: str = "hedge") -> str:
    """A virtual sub-account of an account; gives its UID."""
    body = [{"subAccountName": name, "passphrase": "Passphrase9", "label": "note"}]
    return str(caller.post("subaccounts.create_batch", body, owner).rows[0]["subAccountUid"])


def test_a_main_account_reads_the_futures_accounts_of_its_sub_accounts(fresh: Caller) -> None:
    assert fresh.get("futures.subaccount_assets", **USDT).rows == []
    uids = [created_subaccount(fresh, name) for name in ("abcdefgh", "ijklmnop")]
    book = fresh.sandbox.exchange_state.book(uids[1], "USDT-FUTURES")
    book.balances["USDT"] = Decimal("1000")
    open_position(fresh.sandbox.exchange_state, uids[1], "BTCUSDT", "long", Decimal("0.05"))
    empty, funded = fresh.get("futures.subaccount_assets", **USDT).rows
    assert [str(row["userId"]) for row in (empty, funded)] == uids
    assert Decimal(empty["assetList"][0]["usdtEquity"]) == 0
    names = [key.name for key in fresh.sandbox.exchange_state.keys]
    (own,) = fresh.get("futures.accounts", names[-1], **USDT).rows
    (asset,) = funded["assetList"]
    assert asset == {name: own[name] for name in asset}, "what the sub-account's own key reads"
    assert set(asset) == set(ROWS["futures.subaccount_assets"]["assetList"][0])
    assert fresh.get("futures.subaccount_assets", names[-1], **USDT).rows == [], "a sub-account has none"


def test_sub_accounts_that_never_traded_have_no_assets_and_a_broker_may_not_ask(reading: Caller) -> None:
    rows = reading.get("futures.subaccount_assets", "at-limits", **USDT).rows
    assert len(rows) == 20 and all(row["assetList"] == [] for row in rows)
    assert reading.get("futures.subaccount_assets", "broker", **USDT).code == "40014"
    assert reading.get("futures.subaccount_assets").code == "40019"
    assert Caller(core_only=True).get("futures.subaccount_assets", **USDT).status == 404


def test_the_assets_of_sub_accounts_are_read_once_in_ten_seconds() -> None:
    caller = Caller(limits=True)
    for after_ms, code in ((0, "00000"), (9_999, "429"), (10_000, "00000"), (19_999, "429")):
        caller.now_ms = NOW_MS + after_ms
        assert caller.get("futures.subaccount_assets", **USDT).code == code, after_ms
