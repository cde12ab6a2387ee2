"""Rows of every kind with values of our own, and bodies around them."""

from __future__ import annotations

import json
from typing import Any

from tests.wire.whole_reply import read_reply
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.endpoints.reply import Reply

FEE = {"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": "", "totalFee": "-0.0123"}

ORDER: dict[str, Any] = {
    "symbol": "SOLUSDT",
    "size": "12.5",
    "orderId": "1501234567890123456",
    "clientOid": "tt-17",
    "baseVolume": "2.5",
    "fee": "-0.0451",
    "price": "181.05",
    "priceAvg": "181.02",
    "status": "partially_filled",
    "side": "buy",
    "force": "gtc",
    "totalProfits": "0",
    "posSide": "long",
    "marginCoin": "USDT",
    "quoteVolume": "452.55",
    "leverage": "10",
    "marginMode": "crossed",
    "reduceOnly": "NO",
    "enterPointSource": "api",
    "tradeSide": "open",
    "posMode": "hedge_mode",
    "orderType": "limit",
    "orderSource": "normal",
    "cTime": "1780000000123",
    "uTime": "1780000000456",
    "presetStopSurplusPrice": "",
    "presetStopLossPrice": "",
}

FILL: dict[str, Any] = {
    "tradeId": "1501234567890123999",
    "symbol": "SOLUSDT",
    "orderId": "1501234567890123456",
    "price": "181.02",
    "baseVolume": "2.5",
    "feeDetail": [{**FEE, "totalDeductionFee": None}],
    "side": "buy",
    "quoteVolume": "452.55",
    "profit": "0",
    "enterPointSource": "api",
    "tradeSide": "open",
    "posMode": "hedge_mode",
    "tradeScope": "taker",
    "cTime": "1780000000400",
}

SPOT_FILL: dict[str, Any] = {
    "userId": "9001",
    "symbol": "SOLUSDT",
    "orderId": "1500000000000000001",
    "tradeId": "1500000000000000002",
    "orderType": "market",
    "side": "sell",
    "priceAvg": "180.1",
    "size": "1",
    "amount": "180.1",
    "feeDetail": dict(FEE),
    "tradeScope": "maker",
    "cTime": "1780000001000",
    "uTime": "1780000001001",
}

ROWS: dict[str, dict[str, Any]] = {
    "copytrading.create_api_key": {"apikey": "bg_1", "secret": "canary", "permissions": ["contract_trade"]},
    "subaccounts.create_batch": {
        "subAccountUid": "77",
        "subAccountName": "d**k@example.com",
        "label": "desk",
        "subAccountApiKey": "bg_2",
        "secretKey": "canary",
        "permList": ["read"],
        "ipList": ["10.0.0.1"],
    },
    "spot.fills": SPOT_FILL,
    "broker.transfers": {
        "uid": "77",
        "txId": "88",
        "coin": "USDT",
        "type": "withdrawl",
        "subType": "onchain",
        "amount": "10.5",
        "status": "pending",
        "ts": "1780000000000",
    },
    "futures.reverse": {"orderId": "1501234567890123457", "clientOid": "tt-18"},
    "futures.triggers": {
        "planType": "track_plan",
        "symbol": "SOLUSDT",
        "size": "3",
        "orderId": "1501234567890120000",
        "executeOrderId": "",
        "clientOid": "tt-19",
        "planStatus": "cancelled",
        "price": "",
        "executePrice": "",
        "priceAvg": "",
        "baseVolume": "",
        "callbackRatio": "2",
        "triggerPrice": "190",
        "triggerType": "mark_price",
        "side": "Sell",
        "posSide": "long",
        "marginCoin": "USDT",
        "marginMode": "crossed",
        "enterPointSource": "IOS",
        "tradeSide": "close",
        "posMode": "hedge_mode",
        "orderType": "market",
        "cTime": "1780000000000",
        "uTime": "1780000009000",
        "stopSurplusExecutePrice": "",
        "stopSurplusTriggerPrice": "",
        "stopSurplusTriggerType": "",
        "stopLossExecutePrice": "",
        "stopLossTriggerPrice": "",
        "stopLossTriggerType": "",
    },
    "futures.accounts": {
        "marginCoin": "USDT",
        "locked": "0",
        "available": "900",
        "crossedMaxAvailable": "900",
        "isolatedMaxAvailable": "900",
        "maxTransferOut": "880",
        "accountEquity": "1000",
        "usdtEquity": "1000",
        "btcEquity": "0.01",
        "crossedRiskRate": "0.02",
        "unrealizedPL": "-3.5",
        "coupon": "0",
        "unionTotalMargin": "50",
        "unionAvailable": "900",
        "unionMm": "4",
        "assetList": [{"coin": "USDT", "balance": "1000", "available": "880"}],
        "isolatedMargin": "0",
        "crossedMargin": "100",
        "crossedUnrealizedPL": "-3.5",
        "isolatedUnrealizedPL": "0",
        "assetMode": "union",
    },
    "broker.create_subaccount": {
        "subUid": "78",
        "subaccountName": "desk2@example.com",
        "status": "normal",
        "permList": ["read", "deposit"],
        "label": "second",
        "cTime": "1780000000000",
    },
    "convert.history": {
        "id": "55",
        "ts": "1780000000000",
        "cnvtPrice": "0.0055",
        "fee": "0",
        "fromCoinSize": "100",
        "fromCoin": "USDT",
        "toCoinSize": "0.55",
        "toCoin": "SOL",
    },
    "broker.subaccount_email": {
        "subUid": "78",
        "subaccountName": "desk2",
        "subaccountEmail": "desk2@example.com",
        "cTime": "1780000000000",
        "uTime": "1780000001000",
    },
    "spot.bills": {
        "cTime": "1780000000000",
        "coin": "USDT",
        "groupType": "transfer",
        "businessType": "transfer_out",
        "size": "-11.64",
        "balance": "0.00000000",
        "fees": "0",
        "billId": "1501234567890100000",
    },
    "futures.subaccount_assets": {
        "userId": "4100000041",
        "assetList": [
            {
                "marginCoin": "USDT",
                "locked": "12",
                "available": "900",
                "crossedMaxAvailable": "888",
                "isolatedMaxAvailable": "888",
                "maxTransferOut": "880",
                "accountEquity": "905.5",
                "usdtEquity": "905.5",
                "btcEquity": "0.011",
                "unrealizedPL": "5.5",
                "coupon": "",
            }
        ],
    },
    "futures.pending_orders": ORDER,
    "futures.fills": FILL,
}


def body(endpoint_name: str, *rows: object, **envelope: object) -> bytes:
    """A successful reply of this endpoint holding these rows, in the endpoint's shape."""
    where: Endpoint = CATALOGUE[endpoint_name]
    data: Any = list(rows)
    if where.rows_key is not None:
        data = {where.rows_key: data, "endId": "7"}
    elif where.number in (5, 8, 10):
        data = rows[0]
    reply = {"code": "00000", "msg": "success", "requestTime": 1780000000999, "data": data, **envelope}
    return json.dumps(reply).encode()


def read(endpoint_name: str, *rows: object, **envelope: object) -> Reply[Any]:
    """These rows, read."""
    return read_reply(CATALOGUE[endpoint_name], body(endpoint_name, *rows, **envelope))


def one(endpoint_name: str, row: object) -> Any:
    """This row, read; nothing may be lost."""
    reply = read(endpoint_name, row)
    assert reply.undecodable_rows == ()
    return reply.rows[0]
