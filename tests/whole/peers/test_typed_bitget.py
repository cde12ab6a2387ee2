"""A public client that validates every field strictly reads from the sandbox what `tradetui show` prints."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.optional_packages import import_optional
from tests.whole.peers.sandbox_program import key_of, sandbox_program, show, unified_rows

typed_bitget = import_optional("typed_bitget")
exc = import_optional("typed_bitget.core.exc")

ROOT = Path(__file__).parents[3]
USDT = {"product_type": "USDT-FUTURES"}
Call = Callable[[Any], Awaitable[Any]]


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """A sandbox that speaks as the live exchange, whose market stands almost still, so that two reads see the same."""
    with sandbox_program("--dialect", "live") as running:
        yield running


def ask(server: dict[str, Any], name: str, call: Call, interface: str = "classic", **changed: str) -> Any:
    """What a call of the typed client gives for one of the sandbox's keys."""

    async def run() -> Any:
        key = key_of(server, name) | changed
        client = typed_bitget.Bitget.new(
            access_key=key["api_key"], secret_key=key["secret"], passphrase=key["passphrase"]
        )
        client.http_client.base_url = server["base_url"]
        async with client.http_client:
            return await call(getattr(client, interface))

    return asyncio.run(run())


def same_figures(theirs: Mapping[str, Any], ours: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return all(Decimal(str(theirs[name])) == Decimal(str(ours[name])) for name in names)


def test_futures_fills(server: dict[str, Any]) -> None:
    page = ask(server, "hedge", lambda classic: classic.mix.order.fills(**USDT))
    fills = {row["tradeId"]: row for row in show(server, "hedge", "fills", *("--product-type", "USDT-FUTURES"))}
    assert len(page["fillList"]) == len(fills) == 100
    for fill in page["fillList"]:
        row = fills[fill["tradeId"]]
        assert same_figures(fill, row, ("price", "baseVolume", "quoteVolume", "profit"))
        assert (fill["side"], fill["tradeSide"]) == (row["side"], row["tradeSide"])
        assert round(fill["cTime"].timestamp() * 1000) == int(row["cTime"])


def test_spot_fills(server: dict[str, Any]) -> None:
    theirs = ask(server, "hedge", lambda classic: classic.spot.order.fills(symbol="BTCUSDT"))
    ours = {row["tradeId"]: row for row in show(server, "hedge", "spot-fills", "--symbol", "BTCUSDT")}
    assert theirs and {fill["tradeId"] for fill in theirs} == set(ours)
    assert all(same_figures(fill, ours[fill["tradeId"]], ("priceAvg", "size", "amount")) for fill in theirs)


def test_converts(server: dict[str, Any]) -> None:
    now = datetime.now(UTC)
    span = {"start_time": now - timedelta(days=30), "end_time": now}
    theirs = ask(server, "hedge", lambda classic: classic.convert.records(**span, limit=100))["dataList"]
    ours = {row["id"]: row for row in show(server, "hedge", "convert", "--since", "31d", "--limit", "100")}
    assert theirs and {convert["id"] for convert in theirs} <= set(ours)
    assert all(same_figures(convert, ours[convert["id"]], ("fromCoinSize", "toCoinSize")) for convert in theirs)


def test_a_brokers_transfers_and_an_email(server: dict[str, Any]) -> None:
    page = ask(server, "broker", lambda classic: classic.broker.subaccount.all_deposit_withdrawal_records())
    assert page["list"]
    email = ask(server, "broker", lambda classic: classic.broker.subaccount.email(sub_uid="4200000001"))
    (row,) = show(server, "broker", "email", "--sub-uid", "4200000001")
    assert email["subaccountEmail"] == row["subaccountEmail"]


def test_whose_key_it_is(server: dict[str, Any]) -> None:
    account_info = ask(server, "hedge", lambda classic: classic.spot.account.info())
    assert account_info["userId"] == key_of(server, "hedge")["uid"]


def accounts(classic: Any, **options: Any) -> Any:
    return classic.mix.account.list(**USDT, **options)


def positions(classic: Any, **options: Any) -> Any:
    return classic.mix.position.list(**USDT, margin_coin="USDT", **options)


def pending_orders(classic: Any, **options: Any) -> Any:
    return classic.mix.order.open(**USDT, **options)


def trigger_history(classic: Any, **options: Any) -> Any:
    return classic.mix.order.plan.history(**USDT, plan_type="profit_loss", **options)


def spot_bills(classic: Any, **options: Any) -> Any:
    return classic.spot.account.bills(**options)


STRICTER = [
    (
        accounts,
        {
            ("unionTotalMargin", "decimal_parsing"),
            ("unionAvailable", "decimal_parsing"),
            ("unionMm", "decimal_parsing"),
        },
        "accounts --product-type USDT-FUTURES",
        ("marginCoin", "available", "accountEquity"),
    ),
    (
        pending_orders,
        {("presetStopSurplusType", "missing"), ("presetStopLossType", "missing")},
        "orders --product-type USDT-FUTURES --status live",
        ("orderId", "size", "price", "side"),
    ),
    (
        trigger_history,
        {
            ("marginMode", "literal_error"),
            *((f"stopSurplus{name}", "string_type") for name in ("ExecutePrice", "TriggerPrice", "TriggerType")),
            *((f"stopLoss{name}", "string_type") for name in ("ExecutePrice", "TriggerPrice", "TriggerType")),
        },
        "triggers --product-type USDT-FUTURES --plan-type profit_loss",
        ("orderId", "planType", "size"),
    ),
    (
        spot_bills,
        {("bizOrderId", "missing"), ("groupType", "literal_error")},
        "spot-bills",
        ("billId", "coin", "size", "balance"),
    ),
]
"""Reads of which the client's own model is narrower than the replies: which fields it refuses, how we ask, and what to
compare. The sandbox follows recorded replies there: empty text for a figure that does not apply, null, absent fields.
"""


@pytest.mark.parametrize(("call", "refused", "arguments", "names"), STRICTER)
def test_what_its_strict_model_refuses_is_known_field_by_field(
    server: dict[str, Any],
    call: Callable[..., Awaitable[Any]],
    refused: set[tuple[str, str]],
    arguments: str,
    names: tuple[str, ...],
) -> None:
    assert refused_fields(server, call) == refused
    reply = ask(server, "hedge", lambda classic: call(classic, validate=False))
    rows = reply if isinstance(reply, list) else reply["entrustedList"]
    ours = show(server, "hedge", *arguments.split())
    assert rows and {tuple(row[name] for name in names) for row in rows} == {
        tuple(row[name] for name in names) for row in ours
    }


def test_positions_are_refused_where_no_funding_was_settled_since_they_were_opened(server: dict[str, Any]) -> None:
    rows = ask(server, "hedge", lambda classic: positions(classic, validate=False))
    unsettled = any(row["totalFee"] == "" for row in rows)
    assert refused_fields(server, positions) == ({("totalFee", "decimal_parsing")} if unsettled else set())
    names = ("symbol", "holdSide", "total", "openPriceAvg")
    ours = show(server, "hedge", "positions", "--product-type", "USDT-FUTURES")
    assert rows and {tuple(row[name] for name in names) for row in rows} == {
        tuple(row[name] for name in names) for row in ours
    }


def refused_fields(server: dict[str, Any], call: Callable[..., Awaitable[Any]]) -> set[tuple[str, str]]:
    """Fields of a reply that the client's strict model refuses, with the kind of its objection."""
    try:
        ask(server, "hedge", call)
    except exc.ValidationError as refusal:
        cause: Any = refusal.__cause__
        return {(error["loc"][-1], error["type"]) for error in cause.errors()}
    return set()


def test_it_reverses_and_its_reply_is_valid(server: dict[str, Any]) -> None:
    held = show(server, "managed", "positions", "--product-type", "USDT-FUTURES")
    leg = next(row for row in held if row["holdSide"] == "long" and row["available"] == row["total"])
    request = {**USDT, "symbol": leg["symbol"], "margin_coin": "USDT", "size": leg["total"], "side": "buy"}
    with pytest.raises(exc.ApiError) as refusal:
        ask(server, "managed", lambda classic: classic.mix.position.reverse(**request))
    assert "40774" in str(refusal.value)
    order = ask(
        server,
        "managed",
        lambda classic: classic.mix.position.reverse(**request, trade_side="open", client_oid="typed-1"),
    )
    assert order["orderId"] and order["clientOid"] == "typed-1"


def test_its_errors(server: dict[str, Any]) -> None:
    with pytest.raises(exc.AuthError, match="40009"):
        ask(server, "hedge", accounts, secret="wrong")
    with pytest.raises(exc.AuthError, match="40012"):
        ask(server, "hedge", accounts, passphrase="wrongwrong")
    with pytest.raises(exc.AccountModeMismatch, match="40085"):
        ask(server, "unified", accounts)
    with pytest.raises(exc.AccountModeMismatch, match="40084"):
        ask(server, "hedge", lambda uta: uta.account.assets(), "uta")
    with pytest.raises(exc.BadRequest, match="400172"):
        ask(server, "unified", lambda uta: uta.trade.order.fills("USDT-FUTURES", limit=101), "uta")


UNIFIED: list[tuple[str, Call, tuple[str, ...]]] = [
    (
        "positions",
        lambda uta: uta.position.current_positions("USDT-FUTURES"),
        ("total", "available", "avgPrice", "unrealisedPnl", "liquidationPrice", "totalFunding"),
    ),
    (
        "closed_positions",
        lambda uta: uta.position.history_positions("USDT-FUTURES"),
        ("netProfit", "cumRealisedPnl", "totalFunding", "openFeeTotal", "closeFeeTotal"),
    ),
    (
        "orders",
        lambda uta: uta.trade.order.unfilled("USDT-FUTURES"),
        ("price", "qty", "cumExecQty", "avgPrice"),
    ),
    (
        "fills",
        lambda uta: uta.trade.order.fills("USDT-FUTURES"),
        ("execPrice", "execQty", "execValue", "execPnl"),
    ),
    ("triggers", lambda uta: uta.strategy.history("USDT-FUTURES"), ("qty",)),
    ("live_triggers", lambda uta: uta.strategy.unfilled("USDT-FUTURES"), ("qty",)),
]
"""Our method, the client's call, and figures to compare."""


@pytest.mark.parametrize(("method", "call", "figures"), UNIFIED, ids=[method for method, _, _ in UNIFIED])
def test_rows_of_a_unified_account_are_valid_to_the_last_field(
    server: dict[str, Any], method: str, call: Call, figures: tuple[str, ...]
) -> None:
    reply = ask(server, "unified", call, "uta")
    rows = reply if isinstance(reply, list) else reply["list"]
    ours = unified_rows(server, method, category="USDT-FUTURES")
    assert len(rows) == len(ours) > 0
    for row, our in zip(rows, ours, strict=True):
        texts = {name: value for name, value in row.items() if isinstance(value, str)}
        assert texts and texts == {name: our[name] for name in texts}
        assert same_figures(row, our, figures)
        assert round(row["createdTime"].timestamp() * 1000) == int(our["createdTime"])


def test_fills_of_every_category_are_valid(server: dict[str, Any]) -> None:
    fills = ask(server, "unified", lambda uta: uta.trade.order.fills_paged(limit=50), "uta")
    assert {fill["category"] for fill in fills} == {"USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES", "SPOT"}
    assert len({fill["execId"] for fill in fills}) == len(fills) > 700


def test_a_unified_account_its_settings_and_its_key(server: dict[str, Any]) -> None:
    (ours,) = unified_rows(server, "assets")
    account = ask(server, "unified", lambda uta: uta.account.assets(), "uta")
    assert same_figures(account, ours, ("accountEquity", "usdtEquity", "effEquity", "mmr", "imr", "mgnRatio"))
    for coin, our in zip(account["assets"], ours["assets"], strict=True):
        assert coin["coin"] == our["coin"]
        assert same_figures(coin, our, ("equity", "usdValue", "balance", "available", "debt", "locked"))
    (settings,) = unified_rows(server, "settings")
    assert ask(server, "unified", lambda uta: uta.account.settings(), "uta") == settings
    key = ask(server, "unified", lambda uta: uta.account.info(), "uta")
    assert (key["userId"], key["permissions"]) == (key_of(server, "unified")["uid"], ["uta_mgt", "uta_trade"])


def test_accounts_can_become_unified_while_the_exchange_runs() -> None:
    with sandbox_program("--dialect", "live", "--fault", "account-unified=1") as server:
        with pytest.raises(exc.AccountModeMismatch, match="40085"):
            ask(server, "hedge", accounts)
        settings = ask(server, "hedge", lambda uta: uta.account.settings(), "uta")
        assert (settings["uid"], settings["accountMode"]) == (key_of(server, "hedge")["uid"], "unified")
        assert ask(server, "hedge", lambda uta: uta.trade.order.fills("COIN-FUTURES"), "uta")["list"]
