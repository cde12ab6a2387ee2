"""Futures rows beyond the interface: positions past and open, order detail, account settings, bills, the market."""

from typing import ClassVar

from pydantic import Field

from tradetui.wire.enums import OrderStatus, PositionSide, known, same
from tradetui.wire.models.shared_fields import InMarginMode, InPositionMode, Sided
from tradetui.wire.replies.field_types import DecimalFigure, IdText, Places, SizeFigure, UnsignedSize, UtcTime
from tradetui.wire.replies.nested_fields import texts_of
from tradetui.wire.replies.record import Normalizer, Record


class ReportedPosition(Record, InPositionMode, InMarginMode):
    """An open position as the exchange reports it; in one-way mode `hold_side` is long or short all the same."""

    identity: ClassVar[tuple[str, ...]] = ("symbol", "hold_side", "margin_coin")

    margin_coin: str | None = None
    symbol: str
    hold_side: str
    open_delegate_size: DecimalFigure | None = None
    margin_size: DecimalFigure | None = None
    available: DecimalFigure | None = None
    locked: DecimalFigure | None = None
    total: SizeFigure
    leverage: DecimalFigure | None = None
    achieved_profits: DecimalFigure | None = None
    open_price_avg: DecimalFigure | None = None
    margin_mode: str | None = None
    pos_mode: str | None = None
    unrealized_pl: DecimalFigure | None = Field(default=None, alias="unrealizedPL")
    liquidation_price: DecimalFigure | None = None
    keep_margin_rate: DecimalFigure | None = None
    mark_price: DecimalFigure | None = None
    margin_ratio: DecimalFigure | None = None
    break_even_price: DecimalFigure | None = None
    total_fee: DecimalFigure | None = None
    deducted_fee: DecimalFigure | None = None
    grant: DecimalFigure | None = None
    asset_mode: str | None = None
    auto_margin: str | None = None
    take_profit: DecimalFigure | None = None
    stop_loss: DecimalFigure | None = None
    take_profit_id: IdText | None = None
    stop_loss_id: IdText | None = None
    cash_dividend: DecimalFigure | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None

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
    size: UnsignedSize | None = None
    order_id: IdText
    client_oid: str | None = None
    base_volume: UnsignedSize | None = None
    price_avg: DecimalFigure | None = None
    fee: DecimalFigure | None = None
    price: DecimalFigure | None = None
    state: str
    side: str | None = None
    force: str | None = None
    total_profits: DecimalFigure | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    preset_stop_surplus_price: DecimalFigure | None = None
    preset_stop_surplus_type: str | None = None
    preset_stop_surplus_execute_price: DecimalFigure | None = None
    preset_stop_loss_price: DecimalFigure | None = None
    preset_stop_loss_type: str | None = None
    preset_stop_loss_execute_price: DecimalFigure | None = None
    quote_volume: DecimalFigure | None = None
    order_type: str | None = None
    leverage: DecimalFigure | None = None
    margin_mode: str | None = None
    reduce_only: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_source: str | None = None
    cancel_reason: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None

    @property
    def status(self) -> OrderStatus | None:
        """The order's state; None where nobody knows the word, which then says nothing."""
        return known(OrderStatus, self.state)


class AccountSettings(Record, InPositionMode, InMarginMode):
    """One futures account with position mode, margin mode and leverage."""

    identity: ClassVar[tuple[str, ...]] = ("margin_coin",)

    margin_coin: str | None = None
    locked: DecimalFigure | None = None
    available: DecimalFigure | None = None
    crossed_max_available: DecimalFigure | None = None
    isolated_max_available: DecimalFigure | None = None
    max_transfer_out: DecimalFigure | None = None
    account_equity: DecimalFigure | None = None
    usdt_equity: DecimalFigure | None = None
    btc_equity: DecimalFigure | None = None
    crossed_risk_rate: DecimalFigure | None = None
    crossed_margin_leverage: DecimalFigure | None = None
    isolated_long_lever: DecimalFigure | None = None
    isolated_short_lever: DecimalFigure | None = None
    margin_mode: str | None = None
    pos_mode: str
    unrealized_pl: DecimalFigure | None = Field(default=None, alias="unrealizedPL")
    coupon: DecimalFigure | None = None
    crossed_unrealized_pl: DecimalFigure | None = Field(default=None, alias="crossedUnrealizedPL")
    isolated_unrealized_pl: DecimalFigure | None = Field(default=None, alias="isolatedUnrealizedPL")
    asset_mode: str | None = None


class Contract(Record):
    """The rules of a contract: what sizes and prices it takes, what it costs, whether it trades."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"supportMarginCoins": texts_of}

    symbol: str
    base_coin: str | None = None
    quote_coin: str | None = None
    buy_limit_price_ratio: DecimalFigure | None = None
    sell_limit_price_ratio: DecimalFigure | None = None
    fee_rate_up_ratio: DecimalFigure | None = None
    maker_fee_rate: DecimalFigure | None = None
    taker_fee_rate: DecimalFigure | None = None
    open_cost_up_ratio: DecimalFigure | None = None
    support_margin_coins: tuple[str, ...] = ()
    min_trade_num: DecimalFigure | None = None
    price_end_step: DecimalFigure | None = None
    volume_place: Places | None = None
    price_place: Places | None = None
    size_multiplier: DecimalFigure | None = None
    symbol_type: str | None = None
    min_trade_usdt: DecimalFigure | None = Field(default=None, alias="minTradeUSDT")
    max_symbol_order_num: DecimalFigure | None = None
    max_product_order_num: DecimalFigure | None = None
    max_position_num: DecimalFigure | None = None
    symbol_status: str | None = None
    fund_interval: DecimalFigure | None = None
    min_lever: DecimalFigure | None = None
    max_lever: DecimalFigure | None = None
    pos_limit: DecimalFigure | None = None
    max_market_order_qty: DecimalFigure | None = None
    max_order_qty: DecimalFigure | None = None

    @property
    def trades(self) -> bool | None:
        """Whether orders are taken; None where the exchange does not say."""
        return None if self.symbol_status is None else same(self.symbol_status, "normal")


class Ticker(Record):
    """The last prices of a symbol."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)

    symbol: str
    last_pr: DecimalFigure | None = None
    ask_pr: DecimalFigure | None = None
    bid_pr: DecimalFigure | None = None
    bid_sz: DecimalFigure | None = None
    ask_sz: DecimalFigure | None = None
    high24h: DecimalFigure | None = Field(default=None, alias="high24h")
    low24h: DecimalFigure | None = Field(default=None, alias="low24h")
    ts: UtcTime | None = None
    change24h: DecimalFigure | None = Field(default=None, alias="change24h")
    base_volume: DecimalFigure | None = None
    quote_volume: DecimalFigure | None = None
    usdt_volume: DecimalFigure | None = None
    index_price: DecimalFigure | None = None
    funding_rate: DecimalFigure | None = None
    holding_amount: DecimalFigure | None = None
    open24h: DecimalFigure | None = Field(default=None, alias="open24h")
    mark_price: DecimalFigure | None = None


class FundingRate(Record):
    """The next funding rate of a symbol, as a fraction of a position's value; a LONG pays a rate above zero."""

    identity: ClassVar[tuple[str, ...]] = ("symbol",)

    symbol: str
    funding_rate: DecimalFigure | None = None
    funding_rate_interval: DecimalFigure | None = None
    next_update: UtcTime | None = None
    min_funding_rate: DecimalFigure | None = None
    max_funding_rate: DecimalFigure | None = None


class FuturesBill(Record):
    """A movement of a futures account's wallet; `amount` and `fee` are signed, `balance` is the wallet's after it."""

    identity: ClassVar[tuple[str, ...]] = ("bill_id",)

    bill_id: IdText
    symbol: str | None = None
    amount: DecimalFigure
    fee: DecimalFigure | None = None
    fee_by_coupon: DecimalFigure | None = None
    business_type: str
    coin: str
    balance: DecimalFigure | None = None
    c_time: UtcTime


class ClosedPosition(Record):
    """A position that ended. `net_profit` is `pnl`, `total_funding` and both fees; what was paid is negative."""

    identity: ClassVar[tuple[str, ...]] = ("symbol", "hold_side", "c_time", "u_time")

    position_id: IdText | None = None
    margin_coin: str | None = None
    symbol: str
    hold_side: str
    pos_mode: str | None = None
    margin_mode: str | None = None
    open_avg_price: DecimalFigure | None = None
    close_avg_price: DecimalFigure | None = None
    open_total_pos: DecimalFigure | None = None
    close_total_pos: DecimalFigure | None = None
    pnl: DecimalFigure | None = None
    net_profit: DecimalFigure | None = None
    total_funding: DecimalFigure | None = None
    open_fee: DecimalFigure | None = None
    close_fee: DecimalFigure | None = None
    c_time: UtcTime
    u_time: UtcTime
