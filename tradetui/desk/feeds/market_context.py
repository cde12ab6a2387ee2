"""Market data beside the account's own rows: contract steps, prices, funding rates and waiting stops.

All of it is optional in the interface. A part that the exchange does not offer is unknown, and nothing else depends on
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from tradetui.desk.feeds.polling.feed import Feed
from tradetui.desk.feeds.polling.multi_product import ProductRowsReader
from tradetui.desk.feeds.triggers import TriggersReader
from tradetui.desk.tables.cells.cell_format import UNKNOWN_PRECISION, Precision, SeenPrecisions, coin_places
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.client import ExchangeReader
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.position_figures import nearest_stop
from tradetui.trading.positions import Position, PositionMarket, StopState, with_mark
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.models.public import (
    Contract,
    ContractsRequest,
    FundingRate,
    FundingRatesRequest,
    Ticker,
    TickersRequest,
)
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.request import Request

TICKERS_EVERY_S: Final = 5.0
FUNDING_EVERY_S: Final = 300.0
CONTRACTS_EVERY_S: Final = 3600.0
_NEWEST_ROWS: Final = 500
"""Rows of a snapshot from which decimals are learnt for symbols whose contract is not known."""

_Contract = tuple[ProductType, str]


class MarketContext:
    """Contracts, tickers and funding rates of a session's product types, joined with its positions.

    `feeds` are polled like those of the account; the waiting stops come from the last read of `triggers_reader`.
    """

    def __init__(
        self,
        client: ExchangeReader,
        product_types: Sequence[ProductType],
        triggers: Feed[ProductRow[TriggerOrder]],
        triggers_reader: TriggersReader,
    ) -> None:
        self._triggers = triggers
        self._triggers_reader = triggers_reader
        self._marks: dict[_Contract, Decimal] = {}
        self._funding: dict[_Contract, FundingRate] = {}
        self._of_contracts: dict[str, Precision] = {}
        self._of_fills = SeenPrecisions()
        self.precisions: Mapping[str, Precision] = MappingProxyType({})
        self.coin_places: Mapping[str, int] = MappingProxyType({})

        def feed_of(name: str, request: Callable[..., Request[RecordT]], every_s: float) -> Feed[ProductRow[RecordT]]:
            return Feed(name, ProductRowsReader(client, product_types, request), every_s, client.clock)

        self.tickers = feed_of("tickers", TickersRequest, TICKERS_EVERY_S)
        self.funding_rates = feed_of("funding rates", FundingRatesRequest, FUNDING_EVERY_S)
        self.contracts = feed_of("contracts", ContractsRequest, CONTRACTS_EVERY_S)
        self.feeds: tuple[Feed[FeedRow], ...] = (self.tickers, self.funding_rates, self.contracts)
        self.tickers.subscribe(lambda _: self._take_tickers(self.tickers.snapshot.rows))
        self.funding_rates.subscribe(lambda _: self._take_funding_rates(self.funding_rates.snapshot.rows))
        self.contracts.subscribe(lambda _: self._take_contracts(self.contracts.snapshot.rows))

    def mark_of(self, product_type: ProductType, symbol: str) -> Decimal | None:
        """Return a symbol's mark price, or its last price if the exchange gives no mark; None if it is not fresh."""
        if self.tickers.freshness.aged:
            return None
        return self._marks.get((product_type, symbol.upper()))

    def mark_named(self, symbol: str) -> Decimal | None:
        """Return a symbol's mark price from any product type that lists it; None if it is not fresh."""
        if self.tickers.freshness.aged:
            return None
        return next((mark for (_, name), mark in self._marks.items() if name == symbol), None)

    def precision_of(self, symbol: str) -> Precision:
        return self.precisions.get(symbol, UNKNOWN_PRECISION)

    def joined(self, position: Position) -> Position:
        """Return the position with its nearest stop and next funding; one summed from fills gets the market's mark."""
        mark = self.mark_of(position.product_type, position.symbol) if position.record is None else None
        if mark is not None:
            position = with_mark(position, mark)
        rate = self._funding.get((position.product_type, position.symbol))
        market = self._stop_of(position)._replace(
            funding_rate=None if rate is None else rate.funding_rate,
            next_funding=None if rate is None else rate.next_update,
            mark_is_live=mark is not None or position.record is not None,
        )
        return position if market == position.market else replace(position, market=market)

    def see_orders(self, rows: Iterable[ProductRow[PendingOrder]]) -> None:
        """Learn the decimals of prices and sizes for symbols whose contract is not known."""
        self._see((row.record.symbol, row.record.price, row.record.size) for row in rows)

    def see_fills(self, rows: Sequence[ProductRow[FuturesFill]]) -> None:
        self._see((row.record.symbol, row.record.price, row.record.base_volume) for row in rows[:_NEWEST_ROWS])

    def _stop_of(self, position: Position) -> PositionMarket:
        waiting = self._triggers_reader.waiting
        if waiting is None or self._triggers.freshness.aged:
            if position.stop_loss:
                return PositionMarket(StopState.WAITING, position.stop_loss)
            not_read = self._triggers.snapshot.read_at is None and self._triggers.snapshot.error is None
            return PositionMarket(StopState.NOT_READ if not_read else StopState.UNREADABLE)
        of_product_type = (row.record for row in waiting if row.product_type is position.product_type)
        nearest = nearest_stop(position, of_product_type)
        may_have_one = nearest.stop_state is StopState.NONE and self._triggers_reader.undecodable_waiting > 0
        return PositionMarket(StopState.UNREADABLE) if may_have_one else nearest

    def _take_tickers(self, rows: Sequence[ProductRow[Ticker]]) -> None:
        marks: dict[_Contract, Decimal] = {}
        places: dict[str, int] = {}
        for row in rows:
            price = row.record.mark_price or row.record.last_pr
            if price is None:
                continue
            symbol = row.record.symbol.upper()
            marks[row.product_type, symbol] = price
            coin = symbol.removesuffix("USDT")
            if coin != symbol and not is_dollar(coin):
                places[coin] = coin_places(price)
        self._marks = marks
        if places != self.coin_places:
            self.coin_places = MappingProxyType(places)

    def _take_funding_rates(self, rows: Sequence[ProductRow[FundingRate]]) -> None:
        self._funding = {(row.product_type, row.record.symbol.upper()): row.record for row in rows}

    def _take_contracts(self, rows: Sequence[ProductRow[Contract]]) -> None:
        self._of_contracts = {
            row.record.symbol.upper(): Precision(row.record.price_place, row.record.volume_place) for row in rows
        }
        self._publish_precisions()

    def _see(self, figures: Iterable[tuple[str, Decimal | None, Decimal | None]]) -> None:
        if self._of_fills.see(figures, known=self._of_contracts):
            self._publish_precisions()

    def _publish_precisions(self) -> None:
        precisions = {**self._of_fills.by_symbol, **self._of_contracts}
        if precisions != self.precisions:
            self.precisions = MappingProxyType(precisions)
