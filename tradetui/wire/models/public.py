"""Public data, read without a key: rules, prices and funding rates of contracts, and the exchange's clock.

Rows name the fields that the program uses; the others are in `received`, as in every row.
"""

from pydantic import Field

from tradetui.wire.enums import same
from tradetui.wire.replies.field_types import DecimalFigure, Places, UtcTime
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import ProductTypeText, RequiredSymbol, Symbol
from tradetui.wire.requests.request import Request


class Contract(Record):
    """The rules of a contract: its sizes and prices, its fees, and whether it trades."""

    identity = ("symbol",)

    symbol: str
    base_coin: str | None = None
    quote_coin: str | None = None
    taker_fee_rate: DecimalFigure | None = None
    min_trade_num: DecimalFigure | None = None
    volume_place: Places | None = None
    price_place: Places | None = None
    size_multiplier: DecimalFigure | None = None
    min_trade_usdt: DecimalFigure | None = Field(default=None, alias="minTradeUSDT")
    symbol_status: str | None = None
    max_market_order_qty: DecimalFigure | None = None

    @property
    def trades(self) -> bool | None:
        """Whether orders are accepted; None if the exchange does not say."""
        return None if self.symbol_status is None else same(self.symbol_status, "normal")


class ContractsRequest(Request[Contract]):
    """Beyond the interface: rules of the contracts of a product type."""

    product_type: ProductTypeText
    symbol: Symbol = None


class Ticker(Record):
    """The last prices of a symbol."""

    identity = ("symbol",)

    symbol: str
    last_pr: DecimalFigure | None = None
    ask_pr: DecimalFigure | None = None
    bid_pr: DecimalFigure | None = None
    ts: UtcTime | None = None
    funding_rate: DecimalFigure | None = None
    mark_price: DecimalFigure | None = None


class TickerRequest(Request[Ticker]):
    """Beyond the interface: the last prices of a symbol."""

    product_type: ProductTypeText
    symbol: RequiredSymbol


class TickersRequest(Request[Ticker]):
    """Beyond the interface: the last prices of every symbol of a product type."""

    product_type: ProductTypeText


class FundingRate(Record):
    """The next funding rate of a symbol, as a fraction of a position's value; a LONG pays a positive rate."""

    identity = ("symbol",)

    symbol: str
    funding_rate: DecimalFigure | None = None
    next_update: UtcTime | None = None


class FundingRatesRequest(Request[FundingRate]):
    """Beyond the interface: the current funding rates of a product type, of every symbol unless one is named."""

    product_type: ProductTypeText
    symbol: Symbol = None


class ServerTime(Record):
    """The server's clock."""

    identity = ("server_time",)

    server_time: UtcTime


class ServerTimeRequest(Request[ServerTime]):
    """Beyond the interface: the server's clock."""
