"""The contents of a futures account: balances and settings, open and closed positions, and its wallets' bills.

Endpoint 7 is the interface's own list of accounts. The requests beyond the interface work on the live exchange.
"""

from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from tradetui.wire.enums import AssetMode, PositionSide, known, same
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, THREE_MONTHS, TimeRule
from tradetui.wire.models.futures import InMarginMode, InPositionMode
from tradetui.wire.replies.field_types import DecimalFigure, IdText, SizeFigure, UtcTime
from tradetui.wire.replies.record import Record, records_of
from tradetui.wire.requests.parameter import (
    Coin,
    Count,
    OlderThan,
    Parameter,
    ProductTypeText,
    RequiredCoin,
    RequiredSymbol,
    Symbol,
    Time,
)
from tradetui.wire.requests.request import Request, TimedRequest

UNIFIED_MODE: Final = "unified"
UNIFIED_COIN_MODE: Final = "unified coin"
"""This program's asset modes of a unified account as a whole, and of one coin of it; the exchange sends neither."""


class Asset(Record):
    """One asset that backs a multi-assets account."""

    identity = ("coin",)

    coin: str
    balance: DecimalFigure | None = None
    available: DecimalFigure | None = None


class FuturesAccount(Record):
    """A futures account, one for each margin coin."""

    identity = ("margin_coin",)
    spellings = {"unionTotalMagin": "unionTotalMargin", "equity": "accountEquity"}
    normalizers = {"assetList": records_of(Asset)}

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
        """Whether several assets back the margin together; an unknown word counts as no."""
        return same(self.asset_mode, AssetMode.UNION) or self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether it is a unified account as a whole, whose figures are of all its coins and all product types."""
        return self.asset_mode == UNIFIED_MODE

    @property
    def is_part(self) -> bool:
        """Whether it is one coin of a unified account, which counts in the row of the whole."""
        return self.asset_mode == UNIFIED_COIN_MODE

    @property
    def margin_ratio(self) -> Decimal | None:
        """Maintenance margin as a fraction of the margin behind it (1 is liquidation); None if unknown.

        This is `crossedRiskRate` as received. In multi-assets mode it is unionMm ÷ unionTotalMargin, because the
        received rate covers one coin there and is 0; if it is not 0, the worse of the two counts.
        """
        if not self.is_union:
            return self.crossed_risk_rate
        rate = self.crossed_risk_rate or None
        if self.union_mm is None or self.union_total_margin is None:
            return rate
        if self.union_total_margin <= 0:
            return max(Decimal(1), rate or Decimal(1)) if self.union_mm > 0 else rate
        return max(self.union_mm / self.union_total_margin, rate or Decimal(0))


class AccountListRequest(Request[FuturesAccount]):
    """Endpoint 7: the futures accounts of a product type."""

    product_type: ProductTypeText


class SubaccountAssets(Record):
    """The futures accounts of one sub-account, as its main account may read them: without margin ratio and mode."""

    identity = ("user_id",)
    normalizers = {"assetList": records_of(FuturesAccount)}

    user_id: IdText
    asset_list: tuple[FuturesAccount, ...] = ()


class SubaccountAssetsRequest(Request[SubaccountAssets]):
    """Beyond the interface: the futures accounts of every sub-account of a main account, for a product type."""

    product_type: ProductTypeText


class AccountSettings(Record, InPositionMode):
    """The settings of one futures account, of which the position mode is used."""

    identity = ("margin_coin",)

    margin_coin: str | None = None
    pos_mode: str


class AccountSettingsRequest(Request[AccountSettings]):
    """Beyond the interface: one account with its position mode."""

    symbol: RequiredSymbol
    product_type: ProductTypeText
    margin_coin: RequiredCoin


class ReportedPosition(Record, InPositionMode, InMarginMode):
    """An open position as the exchange reports it; in one-way mode too, `hold_side` is long or short."""

    identity = ("symbol", "hold_side", "margin_coin")

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
        """Long or short; None for any other `hold_side`."""
        side = known(PositionSide, self.hold_side)
        return None if side is PositionSide.NET else side


class PositionsRequest(Request[ReportedPosition]):
    """Beyond the interface: every open position of a product type."""

    product_type: ProductTypeText
    margin_coin: Coin = None


class ClosedPosition(Record):
    """A closed position. `net_profit` is `pnl`, `total_funding` and both fees; amounts paid are negative."""

    identity = ("symbol", "hold_side", "c_time", "u_time")

    margin_coin: str | None = None
    symbol: str
    hold_side: str
    pos_mode: str | None = None
    margin_mode: str | None = None
    pnl: DecimalFigure | None = None
    net_profit: DecimalFigure | None = None
    total_funding: DecimalFigure | None = None
    open_fee: DecimalFigure | None = None
    close_fee: DecimalFigure | None = None
    c_time: UtcTime
    u_time: UtcTime


class ClosedPositionsRequest(TimedRequest[ClosedPosition]):
    """Beyond the interface: positions closed in the last three months; pages go by positionId."""

    time_rule = THREE_MONTHS

    product_type: ProductTypeText
    symbol: Symbol = None
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(default=20)] = None


class FuturesBill(Record):
    """A movement of a futures wallet; `amount` and `fee` are signed, `balance` is the wallet's balance after it."""

    identity = ("bill_id",)

    bill_id: IdText
    symbol: str | None = None
    amount: DecimalFigure
    fee: DecimalFigure | None = None
    business_type: str
    coin: str
    balance: DecimalFigure | None = None
    c_time: UtcTime


class FuturesBillsRequest(TimedRequest[FuturesBill]):
    """Beyond the interface: the movements of a product type's wallets; pages go by billId."""

    time_rule = TimeRule(span_ms=30 * DAY_MS, window_ms=NINETY_DAYS_MS, span_text="30 days")

    product_type: ProductTypeText
    coin: Coin = None
    business_type: Annotated[str | None, Parameter(rule="a business type, such as contract_settle_fee")] = None
    id_less_than: OlderThan = None
    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(default=20)] = None
