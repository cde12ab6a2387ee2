"""The world behind the embedded exchange: accounts in a moving market, advanced in fixed ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tradetui.sandbox.account import PRODUCT_TYPES, Account
from tradetui.sandbox.account_rows import account_row
from tradetui.sandbox.audit import check_account
from tradetui.sandbox.contracts import CONTRACTS, ContractSpec
from tradetui.sandbox.futures_account import HEDGE, ONE_WAY, ZERO, FuturesAccount, Holding, Order, text
from tradetui.sandbox.keys import SandboxKey
from tradetui.sandbox.market import TICK_MS, Market
from tradetui.sandbox.past import rest_order, trade_once, waiting_trigger
from tradetui.sandbox.position_rows import position_row
from tradetui.sandbox.refusals import Refusal
from tradetui.sandbox.reversal_execution import Steps, Wanted, decide, perform, words
from tradetui.sandbox.reversal_faults import changed_steps
from tradetui.sandbox.risk import falls_short, free
from tradetui.sandbox.triggers import WHOLE_POSITION, ended, fires

Row = Mapping[str, Any]
LIVE_ORDERS = 24


class World:
    """Everything the server side knows. Time only moves through `advance`."""

    def __init__(self, seed: int, now_ms: int, *, tick_ms: int = TICK_MS) -> None:
        self.seed = seed
        self.tick_ms = tick_ms
        self.now_ms = now_ms
        self.market = Market(seed)
        self.accounts: dict[str, Account] = {}
        self.unborn: dict[str, Callable[[], Account]] = {}
        self.keys: list[SandboxKey] = []
        self.still = False
        self.one_way_size_honoured = True

    # Time

    def advance(self, now_ms: int) -> None:
        """Move the market and everybody in it up to a moment; whole ticks only, so that cuts do not matter."""
        while self.now_ms + self.tick_ms <= now_ms:
            self.now_ms += self.tick_ms
            if not self.still:
                self._tick()

    def _tick(self) -> None:
        self.market.step()
        for account in self.accounts.values():
            for book in account.futures.values():
                self._match(account, book)
                self._fire(account, book)
                self._liquidate(book)
            if account.lively:
                self._live(account)

    def _match(self, account: Account, book: FuturesAccount) -> None:
        for order in list(book.orders.values()):
            last = self.market.last(order.spec.symbol)
            if order.price is None or (last > order.price if order.buys else last < order.price):
                continue
            left = order.size - order.filled
            part = left if account.chance.random() < 0.3 else max(order.spec.step, order.spec.size(left / 3))
            if order.closes:
                held = book.held(order.spec.symbol, order.leg) if book.mode == HEDGE else book.net(order.spec.symbol)
                # A reduce-only order never adds: once the position is gone or turned round, the order goes too.
                if held is None or order.buys != (held.leg == "short"):
                    self._cancel(book, order)
                    continue
                part = min(part, held.size)
            book.execute(order, min(part, left), order.price, self.now_ms, maker=True)

    def _fire(self, account: Account, book: FuturesAccount) -> None:
        for row in list(book.live_triggers.values()):
            price = self.market.last(row["symbol"])
            if fires(row, price):
                self._execute_trigger(account, book, row, price)

    def _execute_trigger(self, account: Account, book: FuturesAccount, row: dict[str, Any], price: Decimal) -> None:
        del book.live_triggers[row["orderId"]]
        spec = CONTRACTS[row["symbol"]]
        leg = row["posSide"]
        held = book.net(spec.symbol) if leg == "net" else book.held(spec.symbol, leg)
        closes = row["tradeSide"] == "close" or (row["planType"] != "normal_plan" and leg == "net")
        size = held.size if held and row["planType"] in WHOLE_POSITION else Decimal(row["size"])
        if closes:
            size = min(size, held.size) if held else ZERO
        if size <= 0 or (not closes and not self._affords(book, spec, size)):
            book.triggers.append(ended(row, "fail_execute", self.now_ms))
            return
        order = self._market_order(book, spec, row["side"], row["tradeSide"], size, source="normal", enter_point="SYS")
        self._fill(book, order, size)
        book.triggers.append(ended(row, "executed", self.now_ms, execute_id=order.order_id, price=price, size=size))

    def _liquidate(self, book: FuturesAccount) -> None:
        if not book.holdings:
            return
        marks = self.marks()
        for coin in book.balances:
            if falls_short(book, coin, marks):
                for held in [held for held in book.holdings.values() if held.spec.margin_coin == coin]:
                    self.burst(book, held)

    def burst(self, book: FuturesAccount, held: Holding) -> None:
        """Close a holding by force, under the system's own words."""
        side, trade_side = words(book.mode, held.leg, closes=True)
        trade_side = f"burst_close_{held.leg}" if book.mode == HEDGE else f"burst_{trade_side}"
        order = self._market_order(
            book, held.spec, side, trade_side, held.size, source="liquidation", enter_point="SYS"
        )
        self._fill(book, order, held.size)

    def _live(self, account: Account) -> None:
        """About one trade a second, and orders and triggers that come and go."""
        chance = account.chance
        product_type = chance.choices(PRODUCT_TYPES, weights=(8, 1, 1))[0]
        book = account.futures[product_type]
        specs = [spec for spec in CONTRACTS.values() if spec.product_type == product_type]
        spec = chance.choice(specs)
        if chance.random() < 0.22:
            trade_once(book, spec, self.market.last(spec.symbol), chance, self.now_ms)
        if chance.random() < 0.03:
            if len(book.orders) > LIVE_ORDERS:
                order = chance.choice(list(book.orders.values()))
                if not order.filled:
                    self._cancel(book, order)
            else:
                order = rest_order(book, chance, self.now_ms, around=None)
        if chance.random() < 0.01:
            if len(book.live_triggers) > 10:
                row = chance.choice(list(book.live_triggers.values()))
                del book.live_triggers[row["orderId"]]
                book.triggers.append(ended(row, "cancelled", self.now_ms))
            else:
                waiting_trigger(book, spec, self.market.last(spec.symbol), chance, self.now_ms)

    def _cancel(self, book: FuturesAccount, order: Order) -> None:
        order.state, order.changed_ms = "canceled", self.now_ms
        del book.orders[order.order_id]
        book.done[order.order_id] = order

    # Reading

    def account(self, uid: str) -> Account:
        """An account, with its past made when it is first asked for."""
        if uid in self.unborn:
            self.accounts[uid] = self.unborn.pop(uid)()
        return self.accounts[uid]

    def book(self, uid: str, product_type: str) -> FuturesAccount:
        """The futures of an account in a product type; raises Refusal for one that is not traded here."""
        try:
            return self.account(uid).futures[product_type.upper()]
        except KeyError:
            raise Refusal("40309", f"The product type {product_type} has been removed") from None

    def marks(self) -> dict[str, Decimal]:
        return {symbol: self.market.mark(symbol) for symbol in CONTRACTS}

    def rows(self, uid: str, name: str, product_type: str | None = None) -> Sequence[Row]:
        """A book's rows, newest first: fills orders triggers live-triggers spot-fills bills converts transfers."""
        account = self.account(uid)
        if name in ("spot-fills", "bills", "converts", "transfers"):
            plain: Sequence[Row] = {
                "spot-fills": account.spot_fills,
                "bills": account.bills,
                "converts": account.converts,
                "transfers": account.transfers,
            }[name]
            return plain
        book = self.book(uid, product_type or "")
        if name == "fills":
            return book.fills[::-1]
        if name == "orders":
            return [order.row() for order in sorted(book.orders.values(), key=_newest, reverse=True)]
        rows = list(book.live_triggers.values()) if name == "live-triggers" else book.triggers
        return sorted(rows, key=lambda row: (int(row["cTime"]), row["orderId"]), reverse=True)

    def futures_accounts(self, uid: str, product_type: str) -> list[Row]:
        book, marks = self.book(uid, product_type), self.marks()
        return [account_row(book, coin, marks) for coin in book.balances]

    def positions(self, uid: str, product_type: str) -> list[Row]:
        book, marks = self.book(uid, product_type), self.marks()
        return [position_row(book, held, marks) for held in book.holdings.values()]

    def order_detail(
        self, uid: str, product_type: str, symbol: str, order_id: str | None, client_oid: str | None
    ) -> Row:
        book = self.book(uid, product_type)
        for order in (*book.orders.values(), *reversed(book.done.values())):
            if order.spec.symbol == symbol.upper() and (
                order.order_id == order_id if order_id else order.client_oid == client_oid
            ):
                row = dict(order.row())
                row["state"] = row.pop("status")
                row["cancelReason"] = ""
                return row
        raise Refusal("40109", "The data of the order cannot be found, please confirm the order number")

    def account_settings(self, uid: str, product_type: str, symbol: str, margin_coin: str) -> Row:
        book = self.book(uid, product_type)
        spec = self.spec(symbol, product_type)
        return account_row(book, spec.margin_coin, self.marks()) | {
            "posMode": book.mode,
            "marginMode": "crossed",
            "crossedMarginLeverage": book.leverage,
            "isolatedLongLever": book.leverage,
            "isolatedShortLever": book.leverage,
        }

    def spec(self, symbol: str, product_type: str) -> ContractSpec:
        """The contract of a symbol; raises Refusal."""
        spec = CONTRACTS.get(symbol.upper())
        if spec is None or spec.product_type != product_type.upper():
            raise Refusal("40034", f"Parameter {symbol} does not exist")
        return spec

    def contracts(self, product_type: str) -> list[Row]:
        return [
            {
                "symbol": spec.symbol,
                "baseCoin": spec.base,
                "quoteCoin": spec.quote,
                "supportMarginCoins": [spec.margin_coin],
                "minTradeNum": text(spec.step),
                "sizeMultiplier": text(spec.step),
                "volumePlace": str(spec.volume_place),
                "pricePlace": str(spec.price_place),
                "priceEndStep": "1",
                "minTradeUSDT": "5",
                "maxMarketOrderQty": "",
                "maxPositionNum": "150",
                "takerFeeRate": "0.0006",
                "makerFeeRate": "0.0002",
                "maxLever": str(spec.max_leverage),
                "minLever": "1",
                "symbolType": "perpetual",
                "symbolStatus": "normal",
            }
            for spec in CONTRACTS.values()
            if spec.product_type == product_type.upper()
        ]

    def ticker(self, symbol: str, product_type: str) -> list[Row]:
        spec = self.spec(symbol, product_type)
        bid, ask = self.market.spread(spec)
        last = text(self.market.last(spec.symbol))
        return [
            {
                "symbol": spec.symbol,
                "lastPr": last,
                "bidPr": text(bid),
                "askPr": text(ask),
                "markPrice": text(self.market.mark(spec.symbol)),
                "indexPrice": last,
                "fundingRate": "0.0001",
                "ts": str(self.now_ms),
            }
        ]

    def account_info(self, uid: str, permissions: frozenset[str]) -> Row:
        account = self.account(uid)
        words = {
            "futures-read": "coor",
            "futures-write": "coow",
            "holdings-read": "cpor",
            "spot-read": "stor",
            "subaccount-write": "chow",
            "copy-write": "ttow",
        }
        return {
            "userId": uid,
            "inviterId": "",
            "channelCode": "",
            "channel": "",
            "ips": "127.0.0.1",
            "authorities": sorted(words[name] for name in permissions if name in words),
            "parentId": 1,
            "traderType": "trader" if account.is_copy_trader else "not_trader",
            "regisTime": str(self.now_ms - 400 * 86_400_000),
        }

    # The one write of a futures account

    def reverse(self, uid: str, product_type: str, wanted: Wanted, fault: str | None = None) -> Row:
        """Reverse a position as endpoint 5 says, or as a fault asks; raises Refusal."""
        book = self.book(uid, product_type)
        if wanted.client_oid and any(order.client_oid == wanted.client_oid for order in book.orders.values()):
            raise Refusal("43118", "clientOid duplicate")
        if wanted.size is not None and wanted.size % wanted.spec.step:
            raise Refusal("40808", "Parameter verification exception size checkBDScale error")
        steps = decide(book, wanted, honours_one_way_size=self.one_way_size_honoured)
        if wanted.size is not None and wanted.size < wanted.spec.step:
            raise Refusal("45111", "less than the minimum order quantity")
        order = self._reverse_as(book, wanted, steps, fault)
        return {"orderId": order.order_id, "clientOid": wanted.client_oid or order.client_oid}

    def _reverse_as(self, book: FuturesAccount, wanted: Wanted, steps: Steps, fault: str | None) -> Order:
        spec = wanted.spec
        changed = changed_steps(fault, steps)

        def new_order(side: str, trade_side: str, size: Decimal, client_oid: str) -> Order:
            return self._market_order(book, spec, side, trade_side, size, source="reverse", client_oid=client_oid)

        def fill(order: Order, size: Decimal) -> None:
            if size > ZERO:
                self._fill(book, order, size)
            else:
                self._cancel(book, order)

        def affordable() -> Decimal:
            # A fault says what comes out; margin must not make something else of it.
            return self._affordable(book, spec) if fault is None else changed.open

        if fault == "liquidated":
            for held in [held for held in book.holdings.values() if held.spec is spec]:
                self.burst(book, held)
        if fault == "mode-changed":
            self._switch_mode_by_hand(book)
            flat = replace(changed, close=ZERO)
            return perform(book, wanted, flat, new_order, fill, affordable)
        return perform(book, wanted, changed, new_order, fill, affordable)

    def _switch_mode_by_hand(self, book: FuturesAccount) -> None:
        """What the trader does on the exchange's own page: close and cancel everything, then switch the mode."""
        for held in list(book.holdings.values()):
            side, trade_side = words(book.mode, held.leg, closes=True)
            order = self._market_order(book, held.spec, side, trade_side, held.size, source="normal", enter_point="WEB")
            self._fill(book, order, held.size)
        for resting in list(book.orders.values()):
            self._cancel(book, resting)
        book.triggers.extend(ended(row, "cancelled", self.now_ms) for row in book.live_triggers.values())
        book.live_triggers.clear()
        self.set_mode_of(book, ONE_WAY if book.mode == HEDGE else HEDGE)

    def _affordable(self, book: FuturesAccount, spec: ContractSpec) -> Decimal:
        notional = free(book, spec.margin_coin, self.marks()) * book.leverage
        return spec.size(notional if spec.inverse else notional / self.market.last(spec.symbol))

    def _affords(self, book: FuturesAccount, spec: ContractSpec, size: Decimal) -> bool:
        return size <= self._affordable(book, spec)

    def _market_order(
        self,
        book: FuturesAccount,
        spec: ContractSpec,
        side: str,
        trade_side: str,
        size: Decimal,
        *,
        source: str,
        client_oid: str = "",
        enter_point: str = "API",
    ) -> Order:
        order_id = book.ids.at(self.now_ms)
        order = Order(
            spec=spec,
            order_id=order_id,
            client_oid=client_oid or f"s{order_id[-15:]}",
            side=side,
            trade_side=trade_side,
            order_type="market",
            size=size,
            price=None,
            mode=book.mode,
            leverage=book.leverage,
            created_ms=self.now_ms,
            changed_ms=self.now_ms,
            source=source,
            enter_point=enter_point,
        )
        book.orders[order_id] = order
        return order

    def _fill(self, book: FuturesAccount, order: Order, size: Decimal) -> None:
        book.execute(order, size, self.market.last(order.spec.symbol), self.now_ms)

    # What a test or a demonstration may do to the world

    def open_position(self, uid: str, symbol: str, leg: str, size: Decimal) -> None:
        """Open so much of a leg at the market."""
        spec = CONTRACTS[symbol]
        book = self.book(uid, spec.product_type)
        side, trade_side = words(book.mode, leg, closes=False)
        self._fill(book, self._market_order(book, spec, side, trade_side, size, source="normal"), size)

    def place_order(
        self,
        uid: str,
        symbol: str,
        side: str,
        trade_side: str,
        size: Decimal,
        price: Decimal,
        *,
        reduce_only: bool = False,
    ) -> str:
        """Rest a limit order; returns its id."""
        spec = CONTRACTS[symbol]
        book = self.book(uid, spec.product_type)
        order = self._market_order(book, spec, side, trade_side, size, source="normal")
        order.price, order.order_type, order.reduce_only = price, "limit", reduce_only
        return order.order_id

    def cancel_order(self, uid: str, symbol: str, order_id: str) -> None:
        book = self.book(uid, CONTRACTS[symbol].product_type)
        self._cancel(book, book.orders[order_id])

    def set_mode(self, uid: str, product_type: str, mode: str) -> None:
        """Switch the position mode; refused while anything is held or rests."""
        book = self.book(uid, product_type)
        if book.holdings or book.orders:
            raise Refusal("40920", "Position or order exists, the position mode cannot be switched")
        self.set_mode_of(book, mode)

    def set_mode_of(self, book: FuturesAccount, mode: str) -> None:
        book.mode = mode

    def check_books(self) -> None:
        """Raise AssertionError unless what every account holds and is worth follows from what it traded."""
        marks = self.marks()
        for account in self.accounts.values():
            check_account(account, marks)


def _newest(order: Order) -> tuple[int, str]:
    return order.created_ms, order.order_id
