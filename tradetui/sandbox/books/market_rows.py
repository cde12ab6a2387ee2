"""What the exchange tells everybody: its contracts, and the prices of one."""

from __future__ import annotations

from typing import Any

from tradetui.sandbox.books.contracts import MAKER_FEE, TAKER_FEE, ContractSpec
from tradetui.sandbox.books.number_format import text
from tradetui.sandbox.books.order_execution import Moment


def contract_row(spec: ContractSpec) -> dict[str, Any]:
    """One row of the contract list."""
    return {
        "symbol": spec.symbol,
        "baseCoin": spec.base,
        "quoteCoin": spec.quote,
        "supportMarginCoins": [spec.margin_coin],
        "minTradeNum": text(spec.step),
        "sizeMultiplier": text(spec.step),
        "volumePlace": str(spec.volume_place),
        "pricePlace": str(spec.price_place),
        "priceEndStep": "1",
        "minTradeUSDT": "5",
        "maxMarketOrderQty": "",
        "maxPositionNum": "150",
        "takerFeeRate": text(TAKER_FEE),
        "makerFeeRate": text(MAKER_FEE),
        "maxLever": str(spec.max_leverage),
        "minLever": "1",
        "symbolType": "perpetual",
        "symbolStatus": "normal",
    }


def ticker_row(spec: ContractSpec, at: Moment) -> dict[str, Any]:
    """The ticker of a contract."""
    bid, ask = at.market.spread(spec)
    last = text(at.last(spec))
    return {
        "symbol": spec.symbol,
        "lastPr": last,
        "bidPr": text(bid),
        "askPr": text(ask),
        "markPrice": text(at.market.mark(spec.symbol)),
        "indexPrice": last,
        "fundingRate": "0.0001",
        "ts": str(at.now_ms),
    }
