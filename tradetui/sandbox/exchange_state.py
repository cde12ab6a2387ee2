"""The state of the embedded exchange: accounts in a moving market, advanced in fixed steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Literal, assert_never

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.account import Account, AccountMode
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS, FUNDING_INTERVAL_MS, STEP_MS, ContractSpec, Market
from tradetui.sandbox.books.reply_rows import account_row, position_row, subaccount_asset
from tradetui.sandbox.books.reversal import (
    MarketMoment,
    RequestedReversal,
    ReversalFault,
    match_account,
    reverse_as,
    steps_of,
)
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.simulated_trader import trade_for_one_step

Row = Mapping[str, Any]
FuturesRowsName = Literal["fills", "futures-bills", "closed-positions", "orders", "triggers", "live-triggers"]
RowsName = Literal["spot-fills", "bills", "converts", "transfers"] | FuturesRowsName


class ExchangeState:
    """All accounts and the market; only `advance` moves prices and trades.

    `account_factories` make accounts, by UID, at their first read, because their ninety days of trades take long to
    make. `account_modes` are by UID. While the state `stands_still` the clock runs, but no price moves and nobody
    trades. `one_way_size_honoured` is whether the size of a reversal counts in one-way mode, which the interface leaves
    open.
    """

    def __init__(self, seed: int, now_ms: int, *, step_ms: int = STEP_MS) -> None:
        self.seed = seed
        self.step_ms = step_ms
        self.now_ms = now_ms
        self.market = Market(seed)
        self.accounts: dict[str, Account] = {}
        self.account_factories: dict[str, Callable[[], Account]] = {}
        self.account_modes: defaultdict[str, AccountMode] = defaultdict(lambda: AccountMode.CLASSIC)
        self.keys: list[SandboxKey] = []
        self.stands_still = False
        self.one_way_size_honoured = True

    @property
    def moment(self) -> MarketMoment:
        return MarketMoment(self.market, self.now_ms)

    def advance(self, now_ms: int) -> None:
        """Advance market and accounts to a time, in whole steps: one call or many give the same state."""
        while self.now_ms + self.step_ms <= now_ms:
            self.now_ms += self.step_ms
            if not self.stands_still:
                self._step()

    def _step(self) -> None:
        self.market.step()
        settlement_ms = self.now_ms - self.now_ms % FUNDING_INTERVAL_MS
        if settlement_ms > self.now_ms - self.step_ms:
            marks = self.moment.marks()
            for account in self.accounts.values():
                for book in account.futures.values():
                    book.settle_funding(marks, settlement_ms)
        for account in self.accounts.values():
            match_account(account, self.moment)
            if account.lively:
                trade_for_one_step(account, self.moment)

    def account(self, uid: str) -> Account:
        """Return an account, made at its first read; raises KeyError for a UID that no key of this exchange has."""
        if uid in self.account_factories:
            self.accounts[uid] = account = self.account_factories.pop(uid)()
            for book in account.futures.values():
                book.begun_ms = self.now_ms
        return self.accounts[uid]

    def book(self, uid: str, product_type: str) -> FuturesBook:
        """Return the book of a product type; raises Refusal for one that is not traded here."""
        book = self.account(uid).futures.get(product_type.upper())
        if book is None:
            raise Refusal("40309", f"The product type {product_type} has been removed")
        return book

    def rows(self, uid: str, name: RowsName, product_type: str = "") -> Sequence[Row]:
        """Return an account's rows of one kind, newest first, for futures of a product type. Raises Refusal."""
        account = self.account(uid)
        match name:
            case "spot-fills":
                return account.spot_history.fills
            case "bills":
                return account.spot_history.bills
            case "converts":
                return account.converts
            case "transfers":
                return account.transfers
            case "fills":
                return self.book(uid, product_type).fills[::-1]
            case "futures-bills":
                return self.book(uid, product_type).bills()[::-1]
            case "closed-positions":
                return self.book(uid, product_type).closed_positions()[::-1]
            case "orders":
                orders = self.book(uid, product_type).orders.values()
                newest_first = sorted(orders, key=attrgetter("created_ms", "order_id"), reverse=True)
                return [order.row() for order in newest_first]
            case "triggers":
                return _newest_first(self.book(uid, product_type).triggers)
            case "live-triggers":
                return _newest_first(self.book(uid, product_type).live_triggers.values())
            case _:
                assert_never(name)

    def futures_accounts(self, uid: str, product_type: str) -> list[Row]:
        book, marks = self.book(uid, product_type), self.moment.marks()
        return [account_row(book, coin, marks) for coin in book.balances]

    def subaccount_assets(self, uid: str, product_type: str) -> list[Row]:
        """Return the futures accounts of each virtual sub-account; raises Refusal for a product type or a broker."""
        self.book(uid, product_type)
        account = self.account(uid)
        if account.kind == "broker":
            raise Refusal("40014", "Incorrect permissions, a broker has no permission")
        rows: list[Row] = []
        for subaccount in account.virtual_subaccounts:
            sub_uid = subaccount["subAccountUid"]
            exists = sub_uid in self.accounts or sub_uid in self.account_factories
            assets = self.futures_accounts(sub_uid, product_type) if exists else []
            rows.append({"userId": int(sub_uid), "assetList": [subaccount_asset(row) for row in assets]})
        return rows

    def positions(self, uid: str, product_type: str) -> list[Row]:
        book, marks = self.book(uid, product_type), self.moment.marks()
        return [position_row(book, held, marks) for held in book.holdings.values()]

    def spec(self, symbol: str, product_type: str) -> ContractSpec:
        """Return the contract of a symbol; raises Refusal."""
        spec = CONTRACTS.get(symbol.upper())
        if spec is None or spec.product_type != product_type.upper():
            raise Refusal("40034", f"Parameter {symbol} does not exist")
        return spec

    def specs(self, product_type: str, symbol: str | None = None) -> list[ContractSpec]:
        """Return the contracts of a product type, or of one symbol; raises Refusal."""
        if symbol is not None:
            return [self.spec(symbol, product_type)]
        return [spec for spec in CONTRACTS.values() if spec.product_type == product_type.upper()]

    def reverse(
        self, uid: str, product_type: str, requested: RequestedReversal, fault: ReversalFault | None = None
    ) -> Row:
        """Reverse a position by the rules of `click-backhand`, or as a fault changes them; raises Refusal."""
        book = self.book(uid, product_type)
        if requested.client_oid and any(order.client_oid == requested.client_oid for order in book.orders.values()):
            raise Refusal("43118", "clientOid duplicate")
        if requested.size is not None:
            # The smallest order is one step. A smaller size is also not a multiple, but "too small" says more.
            if requested.size < requested.spec.step:
                raise Refusal("45111", "less than the minimum order quantity")
            if requested.size % requested.spec.step:
                raise Refusal("40808", "Parameter verification exception size checkBDScale error")
        steps = steps_of(book, requested, honours_one_way_size=self.one_way_size_honoured)
        order = reverse_as(book, requested, steps, fault, self.moment)
        return {"orderId": order.order_id, "clientOid": requested.client_oid or order.client_oid}


def _newest_first(rows: Iterable[Row]) -> list[Row]:
    # Milliseconds have had thirteen digits since 2001, so their texts sort like the numbers.
    return sorted(rows, key=itemgetter("cTime", "orderId"), reverse=True)
