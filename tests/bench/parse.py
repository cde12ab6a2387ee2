"""How fast a page of 100 pending orders is parsed, beside ccxt on the same bytes: `python -m tests.bench.parse`.

Both start from the body as it comes off the wire. ccxt gives floats in its own unified order; ours are Decimals, UTC
times and the row as received.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import ccxt

from tradetui.wire.catalogue import endpoint
from tradetui.wire.replies import read_reply

BLOCKS = 15
ROUNDS = 20
ORDERS = 100

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


def compare() -> tuple[float, float]:
    """Median seconds of ccxt and of ours, measured in blocks by turns so that both meet the same machine."""
    page = body()
    peer = ccxt.bitget()
    peer.set_markets([_MARKET])
    market = peer.market("BTC/USDT:USDT")
    orders = endpoint("futures.pending_orders")

    def theirs() -> int:
        return len(peer.parse_orders(json.loads(page)["data"]["entrustedList"], market))

    def ours() -> int:
        return len(read_reply(orders, page).rows)

    assert theirs() == ours() == ORDERS
    measured: tuple[list[float], list[float]] = ([], [])
    for _ in range(BLOCKS):
        for call, times in zip((theirs, ours), measured, strict=True):
            times += [_seconds(call) for _ in range(ROUNDS)]
    return statistics.median(measured[0]), statistics.median(measured[1])


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    peer, own = compare()
    print(f"{ORDERS} pending orders, {len(body())} bytes, medians of {BLOCKS * ROUNDS} calls in {BLOCKS} turns")
    print(f"ccxt {ccxt.__version__} json.loads + parse_orders  {peer * 1000:7.3f} ms")
    print(f"tradetui read_reply                 {own * 1000:7.3f} ms")
    print(f"ratio {peer / own:.2f} (goal: at least 4)")
