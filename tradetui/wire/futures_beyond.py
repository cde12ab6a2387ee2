"""Futures rows beyond the interface: positions, order detail, account settings, contracts, ticker."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from pydantic import Field

from tradetui.wire.field_types import Moment
from tradetui.wire.records import Record, Shape
from tradetui.wire.shapes import words
from tradetui.wire.vocabulary import MarginMode, PositionMode, PositionSide, Side, same


class ReportedPosition(Record):
    """An open position as the exchange reports it; in one-way mode `hold_side` is long or short all the same."""

    identity: ClassVar[tuple[str, ...]] = ("symbol", "hold_side", "margin_coin")

    margin_coin: str | None = None
    symbol: str
    hold_side: str
    open_delegate_size: Decimal | None = None
    margin_size: Decimal | None = None
    available: Decimal | None = None
    locked: Decimal | None = None
    total: Decimal
    leverage: Decimal | None = None
    achieved_profits: Decimal | None = None
    open_price_avg: Decimal | None = None
    margin_mode: str | None = None
    pos_mode: str | None = None
    unrealized_pl: Decimal | None = Field(default=None, alias="unrealizedPL")
    liquidation_price: Decimal | None = None
    keep_margin_rate: Decimal | None = None
    mark_price: Decimal | None = None
    margin_ratio: Decimal | None = None
    break_even_price: Decimal | None = None
    total_fee: Decimal | None = None
    deducted_fee: Decimal | None = None
    grant: Decimal | None = None
    asset_mode: str | None = None
    auto_margin: str | None = None
    take_profit: Decimal | None = None
    stop_loss: Decimal | None = None
    take_profit_id: str | None = None
    stop_loss_id: str | None = None
    cash_dividend: Decimal | None = None
    c_time: Moment | None = None
    u_time: Moment | None = None

    @property
    def is_long(self) -> bool:
        """Whether the position gains when the price rises."""
        return same(self.hold_side, PositionSide.LONG)

    @property
    def position_mode(self) -> PositionMode | None:
        """The account's position mode."""
        return PositionMode.parse(self.pos_mode)

    @property
    def margin(self) -> MarginMode | None:
        """Crossed or isolated."""
        return MarginMode.parse(self.margin_mode)


class OrderDetail(Record):
    """One order whatever its state, which is under `state` here."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)
    spellings: ClassVar[dict[str, str]] = {"status": "state"}

    symbol: str | None = None
    size: Decimal | None = None
    order_id: str
    client_oid: str | None = None
    base_volume: Decimal | None = None
    price_avg: Decimal | None = None
    fee: Decimal | None = None
    price: Decimal | None = None
    state: str
    side: str | None = None
    force: str | None = None
    total_profits: Decimal | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    preset_stop_surplus_price: Decimal | None = None
    preset_stop_surplus_type: str | None = None
    preset_stop_surplus_execute_price: Decimal | None = None
    preset_stop_loss_price: Decimal | None = None
    preset_stop_loss_type: str | None = None
    preset_stop_loss_execute_price: Decimal | None = None
    quote_volume: Decimal | None = None
    order_type: str | None = None
    leverage: Decimal | None = None
    margin_mode: str | None = None
    reduce_only: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_source: str | None = None
    cancel_reason: str | None = None
    c_time: Moment | None = None
    u_time: Moment | None = None

    @property
    def is_buy(self) -> bool:
        """Whether `side` says buy, in any case."""
        return same(self.side, Side.BUY)

    @property
    def position_mode(self) -> PositionMode | None:
        """The account's position mode."""
        return PositionMode.parse(self.pos_mode)


class AccountSettings(Record):
    """One futures account with position mode, margin mode and leverage."""

    identity: ClassVar[tuple[str, ...]] = ("margin_coin",)

    margin_coin: str | None = None
    locked: Decimal | None = None
    available: Decimal | None = None
    crossed_max_available: Decimal | None = None
    isolated_max_available: Decimal | None = None
    max_transfer_out: Decimal | None = None
    account_equity: Decimal | None = None
    usdt_equity: Decimal | None = None
    btc_equity: Decimal | None = None
    crossed_risk_rate: Decimal | None = None
    crossed_margin_leverage: Decimal | None = None
    isolated_long_lever: Decimal | None = None
    isolated_short_lever: Decimal | None = None
    margin_mode: str | None = None
    pos_mode: str
    unrealized_pl: Decimal | None = Field(default=None, alias="unrealizedPL")
    coupon: Decimal | None = None
    crossed_unrealized_pl: Decimal | None = Field(default=None, alias="crossedUnrealizedPL")
    isolated_unrealized_pl: Decimal | None = Field(default=None, alias="isolatedUnrealizedPL")
    asset_mode: str | None = None

    @property
    def position_mode(self) -> PositionMode | None:
        """The account's position mode; None when it is neither of the two known."""
        return PositionMode.parse(self.pos_mode)

    @property
    def margin(self) -> MarginMode | None:
        """Crossed or isolated."""
        return MarginMode.parse(self.margin_mode)


class Contract(Record):
    """The rules of a contract: what sizes and prices it takes, what it costs, whether it trades."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)
    shapes: ClassVar[dict[str, Shape]] = {"supportMarginCoins": words}

    symbol: str
    base_coin: str | None = None
    quote_coin: str | None = None
    buy_limit_price_ratio: Decimal | None = None
    sell_limit_price_ratio: Decimal | None = None
    fee_rate_up_ratio: Decimal | None = None
    maker_fee_rate: Decimal | None = None
    taker_fee_rate: Decimal | None = None
    open_cost_up_ratio: Decimal | None = None
    support_margin_coins: tuple[str, ...] = ()
    min_trade_num: Decimal | None = None
    price_end_step: Decimal | None = None
    volume_place: int | None = None
    price_place: int | None = None
    size_multiplier: Decimal | None = None
    symbol_type: str | None = None
    min_trade_usdt: Decimal | None = Field(default=None, alias="minTradeUSDT")
    max_symbol_order_num: Decimal | None = None
    max_product_order_num: Decimal | None = None
    max_position_num: Decimal | None = None
    symbol_status: str | None = None
    fund_interval: Decimal | None = None
    min_lever: Decimal | None = None
    max_lever: Decimal | None = None
    pos_limit: Decimal | None = None
    max_market_order_qty: Decimal | None = None
    max_order_qty: Decimal | None = None

    @property
    def trades(self) -> bool | None:
        """Whether orders are taken; None where the exchange does not say."""
        return None if self.symbol_status is None else same(self.symbol_status, "normal")

    @property
    def price_step(self) -> Decimal | None:
        """The smallest step of a price: `priceEndStep` units of the last of `pricePlace` digits."""
        if self.price_place is None:
            return None
        return (self.price_end_step or Decimal(1)).scaleb(-self.price_place)


class Ticker(Record):
    """The last prices of a symbol."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)

    symbol: str
    last_pr: Decimal | None = None
    ask_pr: Decimal | None = None
    bid_pr: Decimal | None = None
    bid_sz: Decimal | None = None
    ask_sz: Decimal | None = None
    high24h: Decimal | None = Field(default=None, alias="high24h")
    low24h: Decimal | None = Field(default=None, alias="low24h")
    ts: Moment | None = None
    change24h: Decimal | None = Field(default=None, alias="change24h")
    base_volume: Decimal | None = None
    quote_volume: Decimal | None = None
    usdt_volume: Decimal | None = None
    index_price: Decimal | None = None
    funding_rate: Decimal | None = None
    holding_amount: Decimal | None = None
    open24h: Decimal | None = Field(default=None, alias="open24h")
    mark_price: Decimal | None = None
