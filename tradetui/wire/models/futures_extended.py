"""Futures rows beyond the interface: positions, order detail, account settings, contracts, ticker."""

from typing import ClassVar

from pydantic import Field

from tradetui.wire.enums import OrderStatus, PositionSide, known, same
from tradetui.wire.models.modes import InMarginMode, InPositionMode, Sided
from tradetui.wire.replies.field_normalizers import words_of
from tradetui.wire.replies.field_types import Figure, Moment, Places
from tradetui.wire.replies.record import Normalizer, Record


class ReportedPosition(Record, InPositionMode, InMarginMode):
    """An open position as the exchange reports it; in one-way mode `hold_side` is long or short all the same."""

    identity: ClassVar[tuple[str, ...]] = ("symbol", "hold_side", "margin_coin")

    margin_coin: str | None = None
    symbol: str
    hold_side: str
    open_delegate_size: Figure | None = None
    margin_size: Figure | None = None
    available: Figure | None = None
    locked: Figure | None = None
    total: Figure
    leverage: Figure | None = None
    achieved_profits: Figure | None = None
    open_price_avg: Figure | None = None
    margin_mode: str | None = None
    pos_mode: str | None = None
    unrealized_pl: Figure | None = Field(default=None, alias="unrealizedPL")
    liquidation_price: Figure | None = None
    keep_margin_rate: Figure | None = None
    mark_price: Figure | None = None
    margin_ratio: Figure | None = None
    break_even_price: Figure | None = None
    total_fee: Figure | None = None
    deducted_fee: Figure | None = None
    grant: Figure | None = None
    asset_mode: str | None = None
    auto_margin: str | None = None
    take_profit: Figure | None = None
    stop_loss: Figure | None = None
    take_profit_id: str | None = None
    stop_loss_id: str | None = None
    cash_dividend: Figure | None = None
    c_time: Moment | None = None
    u_time: Moment | None = None

    @property
    def leg(self) -> PositionSide | None:
        """Long or short; None where `hold_side` is neither, which then says nothing."""
        side = known(PositionSide, self.hold_side)
        return None if side is PositionSide.NET else side


class OrderDetail(Record, Sided, InPositionMode):
    """One order whatever its state, which is under `state` here."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)
    spellings: ClassVar[dict[str, str]] = {"status": "state"}

    symbol: str | None = None
    size: Figure | None = None
    order_id: str
    client_oid: str | None = None
    base_volume: Figure | None = None
    price_avg: Figure | None = None
    fee: Figure | None = None
    price: Figure | None = None
    state: str
    side: str | None = None
    force: str | None = None
    total_profits: Figure | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    preset_stop_surplus_price: Figure | None = None
    preset_stop_surplus_type: str | None = None
    preset_stop_surplus_execute_price: Figure | None = None
    preset_stop_loss_price: Figure | None = None
    preset_stop_loss_type: str | None = None
    preset_stop_loss_execute_price: Figure | None = None
    quote_volume: Figure | None = None
    order_type: str | None = None
    leverage: Figure | None = None
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
    def status(self) -> OrderStatus | None:
        """The order's state; None where nobody knows the word, which then says nothing."""
        return known(OrderStatus, self.state)


class AccountSettings(Record, InPositionMode, InMarginMode):
    """One futures account with position mode, margin mode and leverage."""

    identity: ClassVar[tuple[str, ...]] = ("margin_coin",)

    margin_coin: str | None = None
    locked: Figure | None = None
    available: Figure | None = None
    crossed_max_available: Figure | None = None
    isolated_max_available: Figure | None = None
    max_transfer_out: Figure | None = None
    account_equity: Figure | None = None
    usdt_equity: Figure | None = None
    btc_equity: Figure | None = None
    crossed_risk_rate: Figure | None = None
    crossed_margin_leverage: Figure | None = None
    isolated_long_lever: Figure | None = None
    isolated_short_lever: Figure | None = None
    margin_mode: str | None = None
    pos_mode: str
    unrealized_pl: Figure | None = Field(default=None, alias="unrealizedPL")
    coupon: Figure | None = None
    crossed_unrealized_pl: Figure | None = Field(default=None, alias="crossedUnrealizedPL")
    isolated_unrealized_pl: Figure | None = Field(default=None, alias="isolatedUnrealizedPL")
    asset_mode: str | None = None


class Contract(Record):
    """The rules of a contract: what sizes and prices it takes, what it costs, whether it trades."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"supportMarginCoins": words_of}

    symbol: str
    base_coin: str | None = None
    quote_coin: str | None = None
    buy_limit_price_ratio: Figure | None = None
    sell_limit_price_ratio: Figure | None = None
    fee_rate_up_ratio: Figure | None = None
    maker_fee_rate: Figure | None = None
    taker_fee_rate: Figure | None = None
    open_cost_up_ratio: Figure | None = None
    support_margin_coins: tuple[str, ...] = ()
    min_trade_num: Figure | None = None
    price_end_step: Figure | None = None
    volume_place: Places | None = None
    price_place: Places | None = None
    size_multiplier: Figure | None = None
    symbol_type: str | None = None
    min_trade_usdt: Figure | None = Field(default=None, alias="minTradeUSDT")
    max_symbol_order_num: Figure | None = None
    max_product_order_num: Figure | None = None
    max_position_num: Figure | None = None
    symbol_status: str | None = None
    fund_interval: Figure | None = None
    min_lever: Figure | None = None
    max_lever: Figure | None = None
    pos_limit: Figure | None = None
    max_market_order_qty: Figure | None = None
    max_order_qty: Figure | None = None

    @property
    def trades(self) -> bool | None:
        """Whether orders are taken; None where the exchange does not say."""
        return None if self.symbol_status is None else same(self.symbol_status, "normal")


class Ticker(Record):
    """The last prices of a symbol."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)

    symbol: str
    last_pr: Figure | None = None
    ask_pr: Figure | None = None
    bid_pr: Figure | None = None
    bid_sz: Figure | None = None
    ask_sz: Figure | None = None
    high24h: Figure | None = Field(default=None, alias="high24h")
    low24h: Figure | None = Field(default=None, alias="low24h")
    ts: Moment | None = None
    change24h: Figure | None = Field(default=None, alias="change24h")
    base_volume: Figure | None = None
    quote_volume: Figure | None = None
    usdt_volume: Figure | None = None
    index_price: Figure | None = None
    funding_rate: Figure | None = None
    holding_amount: Figure | None = None
    open24h: Figure | None = Field(default=None, alias="open24h")
    mark_price: Figure | None = None
