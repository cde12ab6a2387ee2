"""A unified account's rows, converted by our code, beside the classic rows of the same books.

The embedded exchange serves both interfaces from one book, by code of its own. An account is read by the classic
interface, moved, and read again by the same client: no figure, leg or direction may differ.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from tests.exchange.scripted_exchange import START_MS
from tests.sandbox.copied_accounts import born_once
from tests.sandbox.exchange_events import liquidate, place_order
from tradetui.exchange import Credentials, ExchangeReader, LoopClock
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.books.account import AccountMode
from tradetui.sandbox.books.orders import HEDGE, order_sides
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.wire.endpoints.reply import Reply

pytestmark = pytest.mark.looptime

DAY_MS = 86_400_000
PRODUCT_TYPES = ("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES")
ACCOUNTS = pytest.mark.parametrize("account", ["unified", "one-way", "multi-assets", "isolated"])
DIALECTS = pytest.mark.parametrize("dialect", ["documented", "live"])


class Moved:
    """One account of a sandbox whose market stands still, and a client that reads it before and after it is moved."""

    def __init__(self, account: str, dialect: str) -> None:
        self.clock = LoopClock(START_MS)
        self.exchange_state = born_once(build_exchange_state(7, START_MS))
        self.exchange_state.stands_still = True
        options = SandboxOptions(limits=False, dialect=dialect)  # type: ignore[arg-type]
        self.sandbox = Sandbox(self.exchange_state, self.clock.wall_ms, options)
        self.key = next(key for key in self.exchange_state.keys if key.name == account)

    @property
    def uid(self) -> str:
        return self.key.uid

    async def both(self, read: Callable[[ExchangeReader], AsyncIterator[Reply[Any]]]) -> tuple[list[Any], list[Any]]:
        """The rows of all pages of a read: as a classic account, and as a unified one."""
        self.exchange_state.account_modes[self.uid] = AccountMode.CLASSIC
        credentials = Credentials(self.key.api_key, SecretStr(self.key.secret), SecretStr(self.key.passphrase))
        client = ExchangeReader(credentials, app=self.sandbox, clock=self.clock, random=random.Random(1))
        classic = await all_rows(read(client))
        assert not client.is_unified
        self.sandbox.faults.plan("account-unified")
        unified = await all_rows(read(client))
        assert client.is_unified
        return classic, unified


async def all_rows(pages: AsyncIterator[Reply[Any]]) -> list[Any]:
    rows: list[Any] = []
    async for page in pages:
        assert not page.undecodable_rows and not page.unreadable
        rows += page.rows
    return rows


async def one_page(read: Any) -> AsyncIterator[Reply[Any]]:
    yield await read


def check_same(classic: list[Any], unified: list[Any], *apart: str) -> None:
    """The same rows, in every field that v3 tells but those that are compared apart."""
    by_id = {row.row_id: row for row in classic}
    assert len(unified) == len(classic) == len(by_id) > 0
    for row in unified:
        other = by_id[row.row_id]
        for name in type(row)._attributes.values():
            if name not in apart and getattr(row, name) not in (None, ()):
                assert getattr(row, name) == getattr(other, name), (name, row.received, other.received)


@ACCOUNTS
@DIALECTS
async def test_fills(account: str, dialect: str) -> None:
    moved = Moved(account, dialect)
    for product_type in PRODUCT_TYPES:
        book = moved.exchange_state.book(moved.uid, product_type)
        for held in list(book.holdings.values())[:2]:
            liquidate(moved.exchange_state, book, held)
        if not book.fills:
            continue
        classic, unified = await moved.both(
            lambda client, product_type=product_type: client.futures.iter_fills(  # type: ignore[misc]
                product_type=product_type, start_time=START_MS - 89 * DAY_MS
            )
        )
        check_same(classic, unified, "quote_volume", "fee_detail")
        assert [row.trade_id for row in unified] == [row.trade_id for row in classic]
        for row, other in zip(unified, classic, strict=True):
            assert row.quote_volume.quantize(Decimal("0.0001"), ROUND_DOWN) == other.quote_volume
            assert [fee.total_fee for fee in row.fee_detail] == [fee.total_fee for fee in other.fee_detail]
            assert (row.pos_mode, row.trade_side, row.profit) == (other.pos_mode, other.trade_side, other.profit)


@ACCOUNTS
@DIALECTS
async def test_positions(account: str, dialect: str) -> None:
    moved = Moved(account, dialect)
    rest_closing_orders(moved)
    for product_type in PRODUCT_TYPES:
        if not moved.exchange_state.book(moved.uid, product_type).holdings:
            continue
        classic, unified = await moved.both(
            lambda client, product_type=product_type: one_page(  # type: ignore[misc]
                client.futures.positions(product_type=product_type)
            )
        )
        check_same(classic, unified, "margin_size")
        for row in unified:
            other = next(other for other in classic if other.row_id == row.row_id)
            for name in ("total", "available", "open_price_avg", "unrealized_pl", "mark_price", "leg", "pos_mode"):
                assert getattr(row, name) == getattr(other, name) is not None, name


def rest_closing_orders(moved: Moved) -> None:
    """Rest an order that closes a part of each position in USDT futures."""
    book = moved.exchange_state.book(moved.uid, "USDT-FUTURES")
    for held in list(book.holdings.values()):
        price = held.entry * (2 if held.leg == "long" else Decimal("0.5"))
        side, trade_side = order_sides(book.mode, held.leg, closes=True)
        place_order(
            moved.exchange_state,
            moved.uid,
            held.spec.symbol,
            side,
            trade_side,
            held.spec.step,
            held.spec.price(price),
            reduce_only=True,
        )


@ACCOUNTS
@DIALECTS
@pytest.mark.parametrize("status", ["live", "partially_filled"])
async def test_pending_orders(account: str, dialect: str, status: str) -> None:
    moved = Moved(account, dialect)
    rest_closing_orders(moved)
    classic, unified = await moved.both(
        lambda client: client.futures.iter_pending_orders(product_type="USDT-FUTURES", status=status)
    )
    is_hedge = moved.exchange_state.book(moved.uid, "USDT-FUTURES").mode == HEDGE
    # In one-way mode v3 names the leg, of which v2 says that there is none.
    check_same(classic, unified, "status", *(() if is_hedge else ("pos_side",)))
    effects = {(row.side, row.trade_side, row.reduce_only) for row in unified}
    if status == "live":
        assert len(effects) == 4 or not is_hedge, "each leg is opened by some and closed by others"
    for row in unified:
        other = next(other for other in classic if other.row_id == row.row_id)
        for name in ("side", "price", "size", "base_volume", "price_avg", "status", "reduce_only", "pos_mode"):
            assert getattr(row, name) == getattr(other, name), name
        assert not is_hedge or row.trade_side == other.trade_side


@ACCOUNTS
@DIALECTS
@pytest.mark.parametrize("plan_type", ["normal_plan", "profit_loss"])
@pytest.mark.parametrize("waiting", [False, True])
async def test_trigger_orders(account: str, dialect: str, plan_type: str, waiting: bool) -> None:
    moved = Moved(account, dialect)
    parameters: dict[str, Any] = {"product_type": "USDT-FUTURES", "plan_type": plan_type}
    if waiting:
        book = moved.exchange_state.book(moved.uid, "USDT-FUTURES")
        for row in book.triggers[:8]:
            book.live_triggers[row["orderId"]] = {**row, "planStatus": "live"}
    classic, unified = await moved.both(
        lambda client: (
            client.futures.iter_live_triggers(**parameters)
            if waiting
            else client.futures.iter_triggers(**parameters, start_time=START_MS - 89 * DAY_MS)
        )
    )
    classic = [row for row in classic if row.plan_type not in ("moving_plan", "track_plan")]
    is_hedge = moved.exchange_state.book(moved.uid, "USDT-FUTURES").mode == HEDGE
    # The classic interface has no margin mode of a stop, and v3 names a leg in one-way mode too.
    check_same(classic, unified, "plan_type", "margin_mode", *(() if is_hedge else ("pos_side",)))
    stops = {"pos_profit": "profit_plan", "pos_loss": "loss_plan"}
    for row in unified:
        other = next(other for other in classic if other.row_id == row.row_id)
        assert row.plan_type == stops.get(other.plan_type, other.plan_type), "v3 does not tell which is for all"
        for name in ("trigger_price", "trigger_type", "plan_status", "size", "symbol", "c_time"):
            assert getattr(row, name) == getattr(other, name) is not None, name
        if plan_type == "normal_plan":
            assert (row.side, row.trade_side) == (None, None), "whether it opens or closes is not told"
        else:
            assert row.side == other.side and row.trade_side == (other.trade_side if is_hedge else None)


@ACCOUNTS
@DIALECTS
async def test_closed_positions(account: str, dialect: str) -> None:
    moved = Moved(account, dialect)
    classic, unified = await moved.both(
        lambda client: client.futures.iter_closed_positions(
            product_type="USDT-FUTURES", start_time=START_MS - 89 * DAY_MS
        )
    )
    check_same(classic, unified, "margin_mode")
    assert all(row.net_profit is not None and row.total_funding is not None for row in unified)


@DIALECTS
@pytest.mark.parametrize("account", ["unified", "one-way", "isolated"])
async def test_accounts(account: str, dialect: str) -> None:
    moved = Moved(account, dialect)
    classic: dict[str, Any] = {}
    for product_type in PRODUCT_TYPES:
        rows, (whole, *coins) = await moved.both(
            lambda client, product_type=product_type: one_page(  # type: ignore[misc]
                client.futures.accounts(product_type=product_type)
            )
        )
        classic |= {row.margin_coin: row for row in rows}
    near = Decimal("0.000001")
    assert {row.margin_coin for row in coins} == set(classic) == {"USDT", "BTC", "ETH", "USDC"}
    for row in coins:
        other = classic[row.margin_coin]
        assert (row.account_equity, row.available, row.locked) == (other.account_equity, other.available, other.locked)
        assert abs(row.usdt_equity - other.usdt_equity) < near
    assert abs(whole.usdt_equity - sum(row.usdt_equity for row in classic.values())) < near
    assert whole.usdt_equity > whole.account_equity, "which is in USD"
