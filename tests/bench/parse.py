"""How fast a page of 100 pending orders is parsed, beside ccxt on the same bytes: `python -m tests.bench.parse`.

Both start from the body as it comes off the wire. ccxt gives floats in its own unified order; ours are Decimals, UTC
times and the row as received.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import ccxt

from tests.bench.report import Report, by_turns, median_ratio
from tests.wire.whole_reply import read_reply
from tradetui.wire.endpoints.catalogue import CATALOGUE

BLOCKS = 15
ROUNDS = 20
ORDERS = 100
FASTER_THAN_CCXT = 4.0

_MARKET = {
    "id": "BTCUSDT",
    "symbol": "BTC/USDT:USDT",
    "base": "BTC",
    "quote": "USDT",
    "settle": "USDT",
    "baseId": "BTC",
    "quoteId": "USDT",
    "settleId": "USDT",
    "type": "swap",
    "spot": False,
    "swap": True,
    "contract": True,
    "linear": True,
    "inverse": False,
    "contractSize": 1,
    "active": True,
    "precision": {"amount": 0.0001, "price": 0.1},
    "limits": {},
}


def body() -> bytes:
    """A page of pending orders with the interface's 27 fields, every third partially filled."""
    orders = []
    for number in range(ORDERS):
        filled = number % 3 == 0
        orders.append(
            {
                "symbol": "BTCUSDT",
                "size": f"0.{number + 100}",
                "orderId": str(1491757402652127232 + number),
                "clientOid": f"desk-{number:06d}",
                "baseVolume": "0.05" if filled else "0",
                "fee": "-0.0215" if filled else "",
                "price": f"{83000 + number}.5",
                "priceAvg": f"{82990 + number}.1" if filled else "",
                "status": "partially_filled" if filled else "live",
                "side": "buy" if number % 2 else "sell",
                "force": "gtc",
                "totalProfits": "0",
                "posSide": "long" if number % 2 else "short",
                "marginCoin": "USDT",
                "quoteVolume": "4150.12" if filled else "0",
                "leverage": "20",
                "marginMode": "crossed",
                "reduceOnly": "NO",
                "enterPointSource": "api",
                "tradeSide": "open",
                "posMode": "hedge_mode",
                "orderType": "limit",
                "orderSource": "normal",
                "cTime": str(1791388600981 + number),
                "uTime": str(1791388600999 + number),
                "presetStopSurplusPrice": "92000" if filled else "",
                "presetStopLossPrice": "75000" if filled else "",
            }
        )
    reply = {
        "code": "00000",
        "msg": "success",
        "requestTime": 1791388618950,
        "data": {"entrustedList": orders, "endId": orders[-1]["orderId"]},
    }
    return json.dumps(reply, separators=(",", ":")).encode()


def compare() -> dict[str, list[float]]:
    """Seconds of ccxt and of ours, a median of each turn."""
    page = body()
    peer = ccxt.bitget()
    peer.set_markets([_MARKET])
    market = peer.market("BTC/USDT:USDT")
    orders = CATALOGUE["futures.pending_orders"]

    def theirs() -> int:
        return len(peer.parse_orders(json.loads(page)["data"]["entrustedList"], market))

    def ours() -> int:
        return len(read_reply(orders, page).rows)

    assert theirs() == ours() == ORDERS
    return by_turns(BLOCKS, {"ccxt": lambda: _seconds(theirs), "ours": lambda: _seconds(ours)})


def _seconds(call: Callable[[], object]) -> float:
    """The median of so many calls."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> int:
    taken = compare()
    report = Report()
    report.ratio(
        f"parse: pages of {ORDERS} orders in a second",
        1 / statistics.median(taken["ours"]),
        f"ccxt {ccxt.__version__}",
        1 / statistics.median(taken["ccxt"]),
        unit="pages/s",
        at_least=FASTER_THAN_CCXT,
        ratio=median_ratio(taken["ccxt"], taken["ours"]),
    )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
