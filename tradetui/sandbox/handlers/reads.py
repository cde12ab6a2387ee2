"""Answers reads: an account's rows, filtered and paged by the rules, or one row of the market or the account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.market import ContractSpec
from tradetui.sandbox.books.orders import PROFIT_LOSS
from tradetui.sandbox.books.reply_rows import contract_row, funding_row, info_row, settings_row, ticker_row
from tradetui.sandbox.exchange_state import ExchangeState, Row, RowsName
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.handlers.rules import RULES, Rules, checked, page_before, page_size, span_of
from tradetui.sandbox.wallet_history import SPOT_SYMBOLS

RowFilter = Callable[[Row], bool]


class PagedRows(NamedTuple):
    """The rows of a paged endpoint, their id and time fields, the payload's list key, and plain filters."""

    name: RowsName
    id_field: str
    time_field: str
    list_key: str | None
    filters: tuple[str, ...] = ()


PAGED_ROWS: Final[Mapping[str, PagedRows]] = {
    "spot.fills": PagedRows("spot-fills", "tradeId", "cTime", None, ("symbol", "orderId")),
    "broker.transfers": PagedRows("transfers", "txId", "ts", "list"),
    "futures.triggers": PagedRows("triggers", "orderId", "cTime", "entrustedList", ("symbol", "planStatus")),
    "convert.history": PagedRows("converts", "id", "ts", "dataList"),
    "spot.bills": PagedRows("bills", "billId", "cTime", None, ("coin", "groupType", "businessType")),
    "futures.pending_orders": PagedRows("orders", "orderId", "cTime", "entrustedList", ("symbol",)),
    "futures.fills": PagedRows("fills", "tradeId", "cTime", "fillList", ("symbol", "orderId")),
    "futures.bills": PagedRows("futures-bills", "billId", "cTime", "bills", ("coin", "businessType")),
    "futures.closed_positions": PagedRows("closed-positions", "positionId", "utime", "list", ("symbol",)),
    "futures.live_triggers": PagedRows("live-triggers", "orderId", "cTime", "entrustedList", ("symbol",)),
}
_BY_ORDER: Final = frozenset({"futures.triggers", "futures.pending_orders", "futures.live_triggers"})


class ReadCall(NamedTuple):
    """One read: its key, endpoint and parameters. `now_ms` is the exchange's own time."""

    exchange_state: ExchangeState
    key: SandboxKey | None
    name: str
    values: Mapping[str, str]
    now_ms: int

    @property
    def uid(self) -> str:
        assert self.key is not None
        return self.key.uid


def read(
    exchange_state: ExchangeState,
    key: SandboxKey | None,
    name: str,
    parameters: Mapping[str, str],
    now_ms: int,
    live: bool,
) -> Any:
    """Return the payload of a read; raises Refusal."""
    call = ReadCall(exchange_state, key, name, checked(name, parameters, live=live), now_ms)
    return _page(call, PAGED_ROWS[name], RULES[name], live) if name in PAGED_ROWS else _UNPAGED[name](call)


def _page(call: ReadCall, paged_rows: PagedRows, rules: Rules, live: bool) -> Any:
    _check_symbol(call)
    rows = call.exchange_state.rows(call.uid, paged_rows.name, call.values.get("productType", ""))
    page = rows_of_page(call, paged_rows, rules, rows, _special_filters(call))
    if paged_rows.list_key is None:
        return page
    if page:
        return {paged_rows.list_key: page, "endId": page[-1][paged_rows.id_field]}
    return {paged_rows.list_key: None, "endId": None} if live else {paged_rows.list_key: [], "endId": ""}


def rows_of_page(
    call: ReadCall, paged_rows: PagedRows, rules: Rules, rows: Iterable[Row], special_filters: Iterable[RowFilter]
) -> list[Row]:
    """Return the rows of a page from all rows, newest first; raises Refusal."""
    assert rules.paging is not None
    values = call.values
    size, before = page_size(rules.paging, values), page_before(rules.paging, values)
    bound_ms = call.exchange_state.account(call.uid).bound_ms
    start, end = span_of(rules.span, values, call.now_ms, bound_ms) if rules.span else (None, None)
    filters = [_equal(name, values[name]) for name in paged_rows.filters if name in values]
    filters += special_filters
    if before is not None:
        filters.append(lambda row: int(row[paged_rows.id_field]) < before)
    if end is not None:
        filters.append(_ended_by(paged_rows.time_field, end))
    if start is not None:
        # Rows are newest first, so the page ends at the first older one.
        rows = takewhile(_begun_by(paged_rows.time_field, start), rows)
    for is_kept in filters:
        rows = filter(is_kept, rows)
    return list(islice(rows, size))


def _check_symbol(call: ReadCall) -> None:
    symbol, product_type = call.values.get("symbol"), call.values.get("productType")
    if symbol is None:
        return
    if product_type is not None:
        call.exchange_state.book(call.uid, product_type)
        call.exchange_state.spec(symbol, product_type)
    elif symbol not in SPOT_SYMBOLS:
        raise Refusal("40034", f"Parameter {symbol} does not exist")


def _begun_by(field: str, start: int) -> RowFilter:
    # Milliseconds have had thirteen digits since 2001, so their texts sort like the numbers.
    earliest = f"{start:013d}"
    return lambda row: bool(row[field] >= earliest)


def _ended_by(field: str, end: int) -> RowFilter:
    latest = f"{end:013d}"
    return lambda row: bool(row[field] <= latest)


def _equal(field: str, value: str) -> RowFilter:
    return lambda row: bool(row[field] == value)


def _special_filters(call: ReadCall) -> list[RowFilter]:
    """Return the filters that do more than compare a field with the parameter of its name."""
    values, kept = call.values, []
    if call.name in _BY_ORDER:
        # If both are sent, orderId takes precedence.
        id_name = next((name for name in ("orderId", "clientOid") if name in values), None)
        if id_name is not None:
            kept.append(_equal(id_name, values[id_name]))
    if "planType" in values:
        family = PROFIT_LOSS if values["planType"] == "profit_loss" else {values["planType"]}
        kept.append(lambda row: row["planType"] in family)
    if call.name == "futures.pending_orders":
        kept.append(_equal("status", values.get("status", "live")))
    if call.name == "broker.transfers" and values["type"] != "all":
        kept.append(_equal("type", values["type"]))
    return kept


def _email(call: ReadCall) -> Row:
    for row in call.exchange_state.account(call.uid).subaccounts:
        if row["subUid"] == call.values["subUid"]:
            return {name: row[name] for name in ("subUid", "subaccountName", "subaccountEmail", "cTime", "uTime")}
    raise Refusal("40066", "subUid does not belong to this broker")


def _detail(call: ReadCall) -> Row:
    values, order_id, client_oid = call.values, call.values.get("orderId"), call.values.get("clientOid")
    if order_id is None and client_oid is None:
        raise Refusal("40924", "Either orderId or clientOid is needed")
    order = call.exchange_state.book(call.uid, values["productType"]).order(values["symbol"], order_id, client_oid)
    if order is None:
        raise Refusal("40109", "The data of the order cannot be found, please confirm the order number")
    return order.detail()


def _positions(call: ReadCall) -> list[Row]:
    rows = call.exchange_state.positions(call.uid, call.values["productType"])
    coin = call.values.get("marginCoin")
    return [row for row in rows if coin in (None, row["marginCoin"])]


def _settings(call: ReadCall) -> Row:
    values = call.values
    spec = call.exchange_state.spec(values["symbol"], values["productType"])
    if values["marginCoin"] != spec.margin_coin:
        raise Refusal("40020", "Parameter marginCoin error")
    book = call.exchange_state.book(call.uid, values["productType"])
    return settings_row(book, spec.symbol, spec.margin_coin, call.exchange_state.moment.marks())


def _specs(call: ReadCall) -> list[ContractSpec]:
    return call.exchange_state.specs(call.values["productType"], call.values.get("symbol"))


def _tickers(call: ReadCall) -> list[Row]:
    return [ticker_row(spec, call.exchange_state.moment) for spec in _specs(call)]


def _info(call: ReadCall) -> Row:
    assert call.key is not None
    account, key = call.exchange_state.account(call.uid), call.key
    return info_row(account, key.permissions, key.ips, call.exchange_state.now_ms)


_UNPAGED: Final[Mapping[str, Callable[[ReadCall], Any]]] = {
    "futures.accounts": lambda call: call.exchange_state.futures_accounts(call.uid, call.values["productType"]),
    "futures.subaccount_assets": lambda call: call.exchange_state.subaccount_assets(
        call.uid, call.values["productType"]
    ),
    "futures.positions": _positions,
    "futures.order_detail": _detail,
    "futures.account": _settings,
    "futures.contracts": lambda call: [contract_row(spec) for spec in _specs(call)],
    "futures.ticker": _tickers,
    "futures.tickers": _tickers,
    "futures.funding_rates": lambda call: [funding_row(spec, call.exchange_state.now_ms) for spec in _specs(call)],
    "broker.subaccount_email": _email,
    "spot.account_info": _info,
    "public.time": lambda call: {"serverTime": str(call.now_ms)},
}
