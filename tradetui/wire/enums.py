"""The interface's words. Rows keep them as received; compare them without case, including unknown ones.

An unknown word decides nothing: `known` returns None for it, and any action that depends on it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar

_Word = TypeVar("_Word", bound=StrEnum)


def known(vocabulary: type[_Word], text: str | None) -> _Word | None:
    """Return the word of an enum that equals the text without case; None if there is none."""
    word = None if text is None else _by_lower_case(vocabulary).get(text.lower())
    return word if isinstance(word, vocabulary) else None


@cache
def _by_lower_case(vocabulary: type[StrEnum]) -> Mapping[str, StrEnum]:
    return {word.lower(): word for word in vocabulary}


def same(word: str | None, other: str) -> bool:
    """Whether the word is given and equals the other without case."""
    return word is not None and word.lower() == other.lower()


class Side(StrEnum):
    """Direction of an order or fill; in hedge mode it names the leg (buy = long) instead."""

    BUY = "buy"
    SELL = "sell"


class TradeSide(StrEnum):
    """Open or close in hedge mode; system closes name their leg in the suffix, one-way fills end in `_single`."""

    OPEN = "open"
    CLOSE = "close"
    REDUCE_CLOSE_LONG = "reduce_close_long"
    REDUCE_CLOSE_SHORT = "reduce_close_short"
    OFFSET_CLOSE_LONG = "offset_close_long"
    OFFSET_CLOSE_SHORT = "offset_close_short"
    BURST_CLOSE_LONG = "burst_close_long"
    BURST_CLOSE_SHORT = "burst_close_short"
    DELIVERY_CLOSE_LONG = "delivery_close_long"
    DELIVERY_CLOSE_SHORT = "delivery_close_short"
    DTE_SYS_ADL_CLOSE_LONG = "dte_sys_adl_close_long"
    DTE_SYS_ADL_CLOSE_SHORT = "dte_sys_adl_close_short"
    BUY_SINGLE = "buy_single"
    SELL_SINGLE = "sell_single"
    REDUCE_BUY_SINGLE = "reduce_buy_single"
    REDUCE_SELL_SINGLE = "reduce_sell_single"
    BURST_BUY_SINGLE = "burst_buy_single"
    BURST_SELL_SINGLE = "burst_sell_single"
    DELIVERY_SELL_SINGLE = "delivery_sell_single"
    DELIVERY_BUY_SINGLE = "delivery_buy_single"
    DTE_SYS_ADL_BUY_IN_SINGLE_SIDE_MODE = "dte_sys_adl_buy_in_single_side_mode"
    DTE_SYS_ADL_SELL_IN_SINGLE_SIDE_MODE = "dte_sys_adl_sell_in_single_side_mode"


class SystemClose(StrEnum):
    """Why the exchange closed a position by itself, in a trader's words."""

    LIQUIDATION = "liquidation"
    DELIVERY = "delivery"
    ADL = "ADL"
    OFFSET = "offset"


_SYSTEM_CLOSES: Final = {
    "burst": SystemClose.LIQUIDATION,
    "delivery": SystemClose.DELIVERY,
    "dte_sys_adl": SystemClose.ADL,
    "offset": SystemClose.OFFSET,
}


def system_close(word: str | None) -> SystemClose | None:
    """Return why the exchange closed by itself, from the prefix of a fill's `tradeSide` or a bill's `businessType`.

    None if an order closed it.
    """
    lower = (word or "").lower()
    return next((cause for prefix, cause in _SYSTEM_CLOSES.items() if lower.startswith(prefix)), None)


class PositionMode(StrEnum):
    """Whether a long and a short leg are held side by side, or one net position."""

    ONE_WAY = "one_way_mode"
    HEDGE = "hedge_mode"


class PositionSide(StrEnum):
    """The leg of an order; `net` in one-way mode."""

    LONG = "long"
    SHORT = "short"
    NET = "net"


class MarginMode(StrEnum):
    """Margin modes; `cross` and `fixed` are older words for them."""

    ISOLATED = "isolated"
    CROSSED = "crossed"

    @classmethod
    def parse(cls, word: str | None) -> MarginMode | None:
        """Parse a mode, including `cross` and `fixed`; None if it is unknown."""
        return known(cls, {"cross": "crossed", "fixed": "isolated"}.get((word or "").lower(), word))


class OrderStatus(StrEnum):
    """State of a futures order; the interface lists the first two, order detail also returns the others."""

    LIVE = "live"
    PARTIALLY_FILLED = "partially_filled"
    FILLED = "filled"
    CANCELED = "canceled"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    EXPIRED = "expired"

    @property
    def is_over(self) -> bool:
        return self not in (OrderStatus.LIVE, OrderStatus.PARTIALLY_FILLED)


class OrderSource(StrEnum):
    """Sources of orders; the live exchange has more, and adds new ones."""

    NORMAL = "normal"
    MARKET = "market"
    PROFIT_MARKET = "profit_market"
    LOSS_MARKET = "loss_market"
    TRADER_DELEGATE = "Trader_delegate"
    TRADER_PROFIT = "trader_profit"
    TRADER_LOSS = "trader_loss"
    REVERSE = "reverse"
    TRADER_REVERSE = "trader_reverse"
    PROFIT_LIMIT = "profit_limit"
    LOSS_LIMIT = "loss_limit"
    LIQUIDATION = "liquidation"
    DELIVERY_CLOSE_LONG = "delivery_close_long"
    DELIVERY_CLOSE_SHORT = "delivery_close_short"
    POS_PROFIT_LIMIT = "pos_profit_limit"
    POS_PROFIT_MARKET = "pos_profit_market"
    POS_LOSS_LIMIT = "pos_loss_limit"
    POS_LOSS_MARKET = "pos_loss_market"


class PlanType(StrEnum):
    """Kind of a trigger order; rows of `profit_loss` have one of the five kinds after it."""

    NORMAL_PLAN = "normal_plan"
    TRACK_PLAN = "track_plan"
    PROFIT_LOSS = "profit_loss"
    PROFIT_PLAN = "profit_plan"
    LOSS_PLAN = "loss_plan"
    MOVING_PLAN = "moving_plan"
    POS_PROFIT = "pos_profit"
    POS_LOSS = "pos_loss"


#: Kinds that a query for trigger orders may name; `profit_loss` stands for the five after it.
QUERIED_PLAN_TYPES: Final = (PlanType.NORMAL_PLAN, PlanType.TRACK_PLAN, PlanType.PROFIT_LOSS)


class PlanStatus(StrEnum):
    """State of a trigger order; the interface lists the first three, the live exchange also returns the others."""

    EXECUTED = "executed"
    FAIL_EXECUTE = "fail_execute"
    CANCELLED = "cancelled"
    FAIL_TRIGGER = "fail_trigger"
    LIVE = "live"
    NOT_TRIGGER = "not_trigger"
    EXECUTING = "executing"


class AssetMode(StrEnum):
    """Whether several assets or one back the margin."""

    UNION = "union"
    SINGLE = "single"


class TradeScope(StrEnum):
    """Whether a fill took or made liquidity."""

    TAKER = "taker"
    MAKER = "maker"


class TransferType(StrEnum):
    """Deposit or withdrawal of a sub-account; the interface misspells the second."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawl"


class TransferStatus(StrEnum):
    PENDING = "pending"
    FAIL = "fail"
    SUCCESS = "success"


class GroupType(StrEnum):
    """Billing types of the spot ledger; `fait` is the interface's word for fiat."""

    DEPOSIT = "deposit"
    WITHDRAW = "withdraw"
    TRANSACTION = "transaction"
    TRANSFER = "transfer"
    LOAN = "loan"
    FINANCIAL = "financial"
    FAIT = "fait"
    CONVERT = "convert"
    C2C = "c2c"
    PRE_C2C = "pre_c2c"
    ON_CHAIN = "on_chain"
    STRATEGY = "strategy"
    OTHER = "other"


class BusinessType(StrEnum):
    """Business types of the spot ledger as the interface writes them; seven contain spaces."""

    DEPOSIT = "deposit"
    WITHDRAW = "withdraw"
    BUY = "buy"
    SELL = "sell"
    DEDUCTION_HANDLING_FEE = "deduction of handling fee"
    TRANSFER_IN = "transfer-in"
    TRANSFER_OUT = "transfer-out"
    REBATE_REWARDS = "rebate rewards"
    AIRDROP_REWARDS = "airdrop rewards"
    USDT_CONTRACT_REWARDS = "USDT contract rewards"
    MIX_CONTRACT_REWARDS = "mix contract rewards"
    SYSTEM_LOCK = "system lock"
    USER_LOCK = "user lock"


#: The live exchange's words for the business types: the names above in capitals.
LIVE_BUSINESS_TYPES = {kind.value: kind.name for kind in BusinessType}


class VirtualPermission(StrEnum):
    """Permissions of a virtual sub-account's key."""

    SPOT_TRADE = "spot_trade"
    MARGIN_TRADE = "margin_trade"
    CONTRACT_TRADE = "contract_trade"
    READ = "read"
