"""The kind of a futures account's bill, by the exchange's term."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from tradetui.wire.enums import system_close


class BillKind(StrEnum):
    """Causes of a change of the wallet."""

    TRADE = "trade"  # a fill: its profit and its fee
    FUNDING = "funding"
    TRANSFER = "transfer"  # from or to another account of the same owner
    MARGIN = "margin"  # between a position and the wallet it belongs to; the two together stay the same
    OTHER = "other"  # vouchers, shares of profit, and every word that nobody knows: it counts as unexplained


_FUNDING: Final = frozenset({"contract_settle_fee", "contract_main_settle_fee", "contract_margin_settle_fee"})
_MARGIN: Final = frozenset({"append_margin", "adjust_down_lever_append_margin", "reduce_margin", "auto_append_margin"})
_TRADE_PREFIXES: Final = ("open_", "close_", "force_", "reduce_close_")
_TRANSFER_PREFIXES: Final = ("trans_from_", "trans_to_", "transfer_from_", "transfer_to_")


def bill_kind(business_type: str) -> BillKind:
    """The kind of a bill by its `businessType` in any case, as listed for `/api/v2/mix/account/bill`."""
    word = business_type.strip().lower()
    if word in _FUNDING:
        return BillKind.FUNDING
    if word.startswith(_TRANSFER_PREFIXES):
        return BillKind.TRANSFER
    if word in _MARGIN:
        return BillKind.MARGIN
    is_trade = word in ("buy", "sell") or word.startswith(_TRADE_PREFIXES) or system_close(word) is not None
    return BillKind.TRADE if is_trade else BillKind.OTHER
