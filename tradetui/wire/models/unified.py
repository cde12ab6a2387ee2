"""The requests of the unified account (interface v3), whose rows stay as they were received.

Sources: the exchange's documents of December 2025, the types of public client libraries of July and August 2026, and
recorded replies. Words and directions differ from those of the classic interface: `tradetui.wire.classic_rows` says
each row in the classic interface's fields, and nothing else may interpret one.
"""

from __future__ import annotations

from typing import Annotated, Final

from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, TimeRule
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.field_types import IdText
from tradetui.wire.replies.record import Record
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


class UnifiedRow(Record):
    """A row of which no field is read here: all are in `received`."""

    identity = ("received",)


class UnifiedOrder(Record):
    """A pending order, which by its id comes only once however many of its fields have changed between two pages."""

    identity = ("order_id",)

    order_id: IdText


class UnifiedSettings(Record):
    """The settings of a unified account. `hold_mode` is the whole account's position mode."""

    identity = ("account_mode",)

    account_mode: str
    hold_mode: str | None = None


class UnifiedAssetsRequest(Request[UnifiedRow]):
    """Beyond the interface: the equity of a unified account, and each of its coins that is not zero."""


class UnifiedSettingsRequest(Request[UnifiedSettings]):
    """Beyond the interface: which mode the account is in, and its position mode."""


class UnifiedKeyRequest(Request[UnifiedRow]):
    """Beyond the interface: the account behind the key of a unified account, and what the key may do."""


class UnifiedPositionsRequest(Request[UnifiedRow]):
    """Beyond the interface: the open positions of one category of a unified account."""

    category: _Category
    symbol: Symbol = None


class UnifiedOrdersRequest(Request[UnifiedOrder]):
    """Beyond the interface: the pending orders of one category of a unified account, also those partially filled."""

    category: _Category
    symbol: Symbol = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedFillsRequest(TimedRequest[UnifiedRow]):
    """Beyond the interface: the fills of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    order_id: OrderId = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedTriggersRequest(TimedRequest[UnifiedRow]):
    """Beyond the interface: the past strategy orders of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    type: _StrategyType = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None


class UnifiedLiveTriggersRequest(Request[UnifiedRow]):
    """Beyond the interface: the waiting strategy orders of one category of a unified account, all in one reply."""

    category: _Category
    type: _StrategyType = None


class UnifiedClosedPositionsRequest(TimedRequest[UnifiedRow]):
    """Beyond the interface: the closed positions of one category of a unified account."""

    time_rule = _THIRTY_DAYS

    category: _Category
    symbol: Symbol = None
    start_time: Time = None
    end_time: Time = None
    cursor: _Cursor = None
    limit: _Limit = None
