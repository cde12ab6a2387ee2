"""Futures rows of the interface: accounts (7), pending orders (12), trigger orders (6), fills (13), reversals (5).

Their requests are in `futures_requests`; rows of endpoints beyond the interface are in `futures_extended`.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import Field

from tradetui.wire.enums import AssetMode, PositionMode, Side, TradeScope, TradeSide, known, same
from tradetui.wire.models.shared_fields import FeeDetail, InMarginMode, InPositionMode, Sided
from tradetui.wire.replies.field_types import DecimalFigure, IdText, SizeFigure, UnsignedSize, UtcTime
from tradetui.wire.replies.nested_fields import records_of
from tradetui.wire.replies.record import Normalizer, Record


class ReversalResult(Record):
    """The exchange's answer to a reversal: ids, no outcome."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)

    order_id: IdText
    client_oid: str | None = None


class TriggerOrder(Record, Sided, InPositionMode, InMarginMode):
    """A trigger (plan) order, past or waiting."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)

    plan_type: str | None = None
    symbol: str
    size: SizeFigure | None = None
    order_id: IdText
    execute_order_id: IdText | None = None
    client_oid: str | None = None
    plan_status: str | None = None
    price: DecimalFigure | None = None
    execute_price: DecimalFigure | None = None
    price_avg: DecimalFigure | None = None
    base_volume: SizeFigure | None = None
    callback_ratio: DecimalFigure | None = None
    trigger_price: DecimalFigure | None = None
    trigger_type: str | None = None
    side: str | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    margin_mode: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_type: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None
    stop_surplus_execute_price: DecimalFigure | None = None
    stop_surplus_trigger_price: DecimalFigure | None = None
    stop_surplus_trigger_type: str | None = None
    stop_loss_execute_price: DecimalFigure | None = None
    stop_loss_trigger_price: DecimalFigure | None = None
    stop_loss_trigger_type: str | None = None

    @classmethod
    def may_be(cls, row: Mapping[str, Any]) -> bool:
        return _is_trigger(row)


class Asset(Record):
    """One asset behind a multi-assets account."""

    identity: ClassVar[tuple[str, ...]] = ("coin",)

    coin: str
    balance: DecimalFigure | None = None
    available: DecimalFigure | None = None


class FuturesAccount(Record):
    """A futures account, one a margin coin."""

    identity: ClassVar[tuple[str, ...]] = ("margin_coin",)
    spellings: ClassVar[dict[str, str]] = {"unionTotalMagin": "unionTotalMargin"}
    normalizers: ClassVar[dict[str, Normalizer]] = {"assetList": records_of(Asset)}

    margin_coin: str
    locked: DecimalFigure | None = None
    available: DecimalFigure | None = None
    crossed_max_available: DecimalFigure | None = None
    isolated_max_available: DecimalFigure | None = None
    max_transfer_out: DecimalFigure | None = None
    account_equity: DecimalFigure
    usdt_equity: DecimalFigure | None = None
    btc_equity: DecimalFigure | None = None
    crossed_risk_rate: DecimalFigure | None = None
    unrealized_pl: DecimalFigure | None = Field(default=None, alias="unrealizedPL")
    coupon: DecimalFigure | None = None
    union_total_margin: DecimalFigure | None = None
    union_available: DecimalFigure | None = None
    union_mm: DecimalFigure | None = None
    asset_list: tuple[Asset, ...] = ()
    isolated_margin: DecimalFigure | None = None
    crossed_margin: DecimalFigure | None = None
    crossed_unrealized_pl: DecimalFigure | None = Field(default=None, alias="crossedUnrealizedPL")
    isolated_unrealized_pl: DecimalFigure | None = Field(default=None, alias="isolatedUnrealizedPL")
    asset_mode: str | None = None

    @property
    def is_union(self) -> bool:
        """Whether several assets stand behind the margin together; a word that nobody knows says nothing of it."""
        return same(self.asset_mode, AssetMode.UNION)

    @property
    def margin_ratio(self) -> Decimal | None:
        """Maintenance margin as a part of what stands behind it, as a fraction (1 is liquidation); None where unknown.

        `crossedRiskRate` as received, but in multi-assets mode unionMm ÷ unionTotalMargin, since the rate counts one
        coin there and is told as 0; where it is told as more it is the worse of the two.
        """
        if not self.is_union:
            return self.crossed_risk_rate
        rate = self.crossed_risk_rate or None
        if self.union_mm is None or self.union_total_margin is None:
            return rate
        if self.union_total_margin <= 0:
            return max(Decimal(1), rate or Decimal(1)) if self.union_mm > 0 else rate
        return max(self.union_mm / self.union_total_margin, rate or Decimal(0))


class PendingOrder(Record, Sided, InPositionMode, InMarginMode):
    """A futures order that is live or partially filled."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)

    symbol: str
    size: UnsignedSize
    order_id: IdText
    client_oid: str | None = None
    base_volume: UnsignedSize | None = None
    fee: DecimalFigure | None = None
    price: DecimalFigure | None = None
    price_avg: DecimalFigure | None = None
    status: str | None = None
    side: str
    force: str | None = None
    total_profits: DecimalFigure | None = None
    pos_side: str | None = None
    margin_coin: str | None = None
    quote_volume: DecimalFigure | None = None
    leverage: DecimalFigure | None = None
    margin_mode: str | None = None
    reduce_only: str | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    order_type: str | None = None
    order_source: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None
    preset_stop_surplus_price: DecimalFigure | None = None
    preset_stop_loss_price: DecimalFigure | None = None

    @classmethod
    def may_be(cls, row: Mapping[str, Any]) -> bool:
        return not _is_trigger(row)


class FuturesFill(Record, Sided):
    """A futures fill. In hedge mode `side` names the leg and `trade_side` says open or close."""

    identity: ClassVar[tuple[str, ...]] = ("trade_id",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"feeDetail": records_of(FeeDetail)}

    trade_id: IdText
    symbol: str
    order_id: IdText | None = None
    price: DecimalFigure
    base_volume: UnsignedSize
    fee_detail: tuple[FeeDetail, ...] = ()
    side: str
    quote_volume: DecimalFigure | None = None
    profit: DecimalFigure | None = None
    enter_point_source: str | None = None
    trade_side: str | None = None
    pos_mode: str | None = None
    trade_scope: str | None = None
    c_time: UtcTime

    @classmethod
    def with_distinct_ids(cls, rows: list[Any]) -> list[Any]:
        """The fills, where one trade closes and opens under one id each with an id of its own: what closes keeps it."""
        ids = [str(row.get("tradeId") or "") if isinstance(row, Mapping) else "" for row in rows]
        if len(set(ids)) == len(ids):
            return rows
        effects: dict[str, set[tuple[bool, str, str]]] = {}
        for trade_id, row in zip(ids, rows, strict=True):
            if trade_id:
                effects.setdefault(trade_id, set()).add(_effect(row))
        return [
            {**row, "tradeId": f"{trade_id} {' '.join(_effect(row)[1:])}"}
            if trade_id and _effect(row) != min(effects[trade_id])
            else row
            for trade_id, row in zip(ids, rows, strict=True)
        ]

    @property
    def unique_key(self) -> object:
        """Its id and its words: the halves of one trade may come on two pages."""
        return self.trade_id.partition(" ")[0], self.side.lower(), (self.trade_side or "").lower()

    @property
    def position_mode(self) -> PositionMode | None:
        """The account's position mode then; where `posMode` is missing, a word of one-way trades alone says it."""
        if self.pos_mode is None and "_single" in (self.trade_side or "").lower():
            return PositionMode.ONE_WAY
        return known(PositionMode, self.pos_mode)

    @property
    def unknown_word(self) -> str:
        """A word that says what this fill did to a position and is none of its mode, as it came; else empty."""
        if known(Side, self.side) is None:
            return f"side {self.side!r}"
        if self.pos_mode is not None and self.position_mode is None:
            return f"posMode {self.pos_mode!r}"
        if self.position_mode is PositionMode.ONE_WAY:
            return ""  # the side says it all
        trade_side = known(TradeSide, self.trade_side)
        return f"tradeSide {self.trade_side!r}" if trade_side is None or "single" in trade_side else ""

    @property
    def is_taker(self) -> bool:
        """Whether the fill took liquidity."""
        return same(self.trade_scope, TradeScope.TAKER)


def _is_trigger(row: Mapping[str, Any]) -> bool:
    """Whether a row names what only a trigger order has: an order taken for one would stand among the stops."""
    return bool(row.get("planType") or row.get("planStatus"))


def _effect(row: Mapping[str, Any]) -> tuple[bool, str, str]:
    """What a fill did by its words, closing ones first: two rows of one id that differ in it are two fills."""
    side, trade_side = str(row.get("side", "")).lower(), str(row.get("tradeSide", "")).lower()
    return TradeSide.CLOSE not in trade_side, side, trade_side
