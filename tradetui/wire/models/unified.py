"""The unified account (interface v3): its rows as received, each followed by the request that reads them.

Sources: the exchange's documents of December 2025, the types of public client libraries of July and August 2026, and
recorded replies. Words and directions differ from those of the classic interface: `tradetui.wire.classic_rows` says
each row in the classic interface's fields, and nothing else may interpret one.
"""

from __future__ import annotations

from typing import Annotated, Final

from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, TimeRule
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.field_types import DecimalFigure, IdText, SizeFigure, UnsignedSize, UtcTime
from tradetui.wire.replies.record import Record, records_of, texts_of
from tradetui.wire.requests.parameter import Count, OrderId, Parameter, Symbol, Time, Word
from tradetui.wire.requests.request import Request, TimedRequest

FUTURES_CATEGORIES: Final = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)
"""The categories of futures, named like the classic interface's product types; spot and margin are others."""
_THIRTY_DAYS: Final = TimeRule(span_ms=30 * DAY_MS, window_ms=NINETY_DAYS_MS, span_text="30 days")
_Category = Annotated[
    ProductType | str, Word(required=True, rule="one of the futures categories", choices=FUTURES_CATEGORIES)
]
_Cursor = Annotated[str | None, Parameter(rule="the cursor of the page before; only older rows are returned")]
_Limit = Annotated[int | None, Count()]
_StrategyType = Annotated[str | None, Word(rule="tpsl or trigger", choices=("tpsl", "trigger"))]


class UnifiedAsset(Record):
    """One coin of a unified account; `usd_value` is its equity in USD."""

    identity = ("coin",)

    coin: str
    equity: DecimalFigure | None = None
    usd_value: DecimalFigure | None = None
    balance: DecimalFigure | None = None
    available: DecimalFigure | None = None
    debt: DecimalFigure | None = None
    locked: DecimalFigure | None = None


class UnifiedAssets(Record):
    """The whole account. Here `mmr` and `imr` are maintenance and initial margin in USD, not rates."""

    identity = ("account_equity",)
    normalizers = {"assets": records_of(UnifiedAsset)}

    account_equity: DecimalFigure
    usdt_equity: DecimalFigure | None = None
    btc_equity: DecimalFigure | None = None
    unrealised_pnl: DecimalFigure | None = None
    usdt_unrealised_pnl: DecimalFigure | None = None
    eff_equity: DecimalFigure | None = None
    mmr: DecimalFigure | None = None
    imr: DecimalFigure | None = None
    mgn_ratio: DecimalFigure | None = None
    position_mgn_ratio: DecimalFigure | None = None
    assets: tuple[UnifiedAsset, ...] = ()


class UnifiedAssetsRequest(Request[UnifiedAssets]):
    """Beyond the interface: the equity of a unified account, and each of its coins that is not zero."""


class UnifiedSettings(Record):
    """The settings of a unified account. `hold_mode` is the whole account's position mode."""

    identity = ("uid",)

    uid: IdText | None = None
    account_mode: str
    asset_mode: str | None = None
    account_level: str | None = None
    hold_mode: str | None = None
    stp_mode: str | None = None


class UnifiedSettingsRequest(Request[UnifiedSettings]):
    """Beyond the interface: which mode the account is in, and its position mode."""


class UnifiedKey(Record):
    """The owner and the permissions of a key of a unified account."""

    identity = ("user_id",)
    normalizers = {"permissions": texts_of, "ips": texts_of}

    user_id: IdText
    inviter_id: IdText | None = None
    parent_id: IdText | None = None
    perm_type: str | None = None
    permissions: tuple[str, ...] = ()
    ips: tuple[str, ...] = ()
    regis_time: UtcTime | None = None


class UnifiedKeyRequest(Request[UnifiedKey]):
    """Beyond the interface: the account behind the key of a unified account, and what the key may do."""


class UnifiedPosition(Record):
    """An open position. Here `mmr` is the rate of the maintenance margin.

    `created_time` is when symbol and side were first opened, which may be before the position that is held now.
    """

    identity = ("symbol", "pos_side", "margin_coin")

    category: str | None = None
    symbol: str
    margin_coin: str | None = None
    hold_mode: str | None = None
    pos_side: str
    margin_mode: str | None = None
    position_balance: DecimalFigure | None = None
    available: DecimalFigure | None = None
    frozen: DecimalFigure | None = None
    total: SizeFigure
    leverage: DecimalFigure | None = None
    cur_realised_pnl: DecimalFigure | None = None
    avg_price: DecimalFigure | None = None
    position_status: str | None = None
    unrealised_pnl: DecimalFigure | None = None
    liquidation_price: DecimalFigure | None = None
    mmr: DecimalFigure | None = None
    profit_rate: DecimalFigure | None = None
    mark_price: DecimalFigure | None = None
    break_even_price: DecimalFigure | None = None
    total_funding: DecimalFigure | None = None
    open_fee_total: DecimalFigure | None = None
    close_fee_total: DecimalFigure | None = None
    created_time: UtcTime | None = None
    updated_time: UtcTime | None = None


class UnifiedPositionsRequest(Request[UnifiedPosition]):
    """Beyond the interface: the open positions of one category of a unified account."""

    category: _Category
    symbol: Symbol = None


class UnifiedFee(Record):
    """One fee. Whether a paid one is positive or negative is not documented, and was recorded both ways."""

    fee_coin: str | None = None
    fee: DecimalFigure | None = None


class UnifiedOrder(Record):
    """A pending order. `side` is the direction of the trade: the close of a long sells."""

    identity = ("order_id",)
    normalizers = {"feeDetail": records_of(UnifiedFee)}

    order_id: IdText
    client_oid: str | None = None
    category: str | None = None
    symbol: str
    order_type: str | None = None
    side: str
    price: DecimalFigure | None = None
    qty: UnsignedSize
    cum_exec_qty: UnsignedSize | None = None
    cum_exec_value: DecimalFigure | None = None
    avg_price: DecimalFigure | None = None
    time_in_force: str | None = None
    order_status: str | None = None
    pos_side: str | None = None
    hold_mode: str | None = None
    margin_mode: str | None = None
    delegate_type: str | None = None
    reduce_only: str | None = None
    fee_detail: tuple[UnifiedFee, ...] = ()
    take_profit: DecimalFigure | None = None
    stop_loss: DecimalFigure | None = None
    created_time: UtcTime | None = None
    updated_time: UtcTime | None = None


class UnifiedOrdersRequest(Request[UnifiedOrder]):
    """Beyond the interface: the pending orders of one category of a unified account, also those partially filled."""

    category: _Category
    symbol: Symbol = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedFill(Record):
    """A fill. `side` is the direction of the trade; `exec_pnl` is the profit of the price, without fees."""

    identity = ("exec_id", "symbol")
    normalizers = {"feeDetail": records_of(UnifiedFee)}

    exec_id: IdText
    order_id: IdText | None = None
    client_oid: str | None = None
    category: str | None = None
    symbol: str
    order_type: str | None = None
    side: str
    exec_price: DecimalFigure
    exec_qty: UnsignedSize
    exec_value: DecimalFigure | None = None
    trade_scope: str | None = None
    trade_side: str | None = None
    pos_side: str | None = None
    fee_detail: tuple[UnifiedFee, ...] = ()
    exec_pnl: DecimalFigure | None = None
    created_time: UtcTime
    updated_time: UtcTime | None = None


class UnifiedFillsRequest(TimedRequest[UnifiedFill]):
    """Beyond the interface: the fills of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    order_id: OrderId = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedTrigger(Record):
    """A strategy order: a trigger order, or a take-profit and stop-loss (`tpsl`), which may be both in one."""

    identity = ("order_id",)

    order_id: IdText
    client_oid: str | None = None
    category: str | None = None
    symbol: str
    type: str | None = None
    qty: SizeFigure | None = None
    side: str | None = None
    pos_side: str | None = None
    reduce_only: str | None = None
    margin_mode: str | None = None
    status: str | None = None
    trigger_type: str | None = None
    trigger_by: str | None = None
    trigger_price: DecimalFigure | None = None
    trigger_order_type: str | None = None
    trigger_order_price: DecimalFigure | None = None
    take_profit: DecimalFigure | None = None
    tp_trigger_by: str | None = None
    tp_order_type: str | None = None
    tp_limit_price: DecimalFigure | None = None
    stop_loss: DecimalFigure | None = None
    sl_trigger_by: str | None = None
    sl_order_type: str | None = None
    sl_limit_price: DecimalFigure | None = None
    created_time: UtcTime | None = None
    updated_time: UtcTime | None = None


class UnifiedTriggersRequest(TimedRequest[UnifiedTrigger]):
    """Beyond the interface: the past strategy orders of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    type: _StrategyType = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedLiveTriggersRequest(Request[UnifiedTrigger]):
    """Beyond the interface: the waiting strategy orders of one category of a unified account, all in one reply."""

    category: _Category
    type: _StrategyType = None


class UnifiedClosedPosition(Record):
    """A closed position; `net_profit` is after fees and funding."""

    identity = ("symbol", "pos_side", "created_time", "updated_time")

    position_id: IdText | None = None
    category: str | None = None
    symbol: str
    margin_coin: str | None = None
    hold_mode: str | None = None
    pos_side: str
    margin_mode: str | None = None
    open_price_avg: DecimalFigure | None = None
    close_price_avg: DecimalFigure | None = None
    open_total_pos: DecimalFigure | None = None
    close_total_pos: DecimalFigure | None = None
    cum_realised_pnl: DecimalFigure | None = None
    net_profit: DecimalFigure | None = None
    total_funding: DecimalFigure | None = None
    open_fee_total: DecimalFigure | None = None
    close_fee_total: DecimalFigure | None = None
    created_time: UtcTime
    updated_time: UtcTime


class UnifiedClosedPositionsRequest(TimedRequest[UnifiedClosedPosition]):
    """Beyond the interface: the closed positions of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    symbol: Symbol = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None
