"""Positions for scripts: all-position's own names, plus where each comes from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from tradetui.desk.feeds.positions import PositionsReader
from tradetui.exchange.client import ExchangeReader
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.positions import FromFills, Position
from tradetui.wire.models.futures_requests import PositionsRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.unix_time import unix_ms


async def held_positions(
    client: ExchangeReader, requests: list[PositionsRequest], count_undecodable: Callable[[int], None]
) -> AsyncIterator[Position]:
    """What is held, as reported or summed from fills.

    `count_undecodable` is told how many rows could not be read.
    """
    reader = PositionsReader(client, [ProductType(request.product_type) for request in requests])
    coins = {request.product_type: request.margin_coin for request in requests}
    reading = await reader.read()
    count_undecodable(reading.undecodable_rows)
    for position in reading.rows:
        coin = coins[position.product_type]
        if coin is None or (position.margin_coin or "").upper() == coin.upper():
            yield position
    if reading.error is not None:
        raise reading.error


def position_as_json(position: Position) -> dict[str, object]:
    """One position under the interface's names; what is not known is left out.

    `source`, `since` and `provenFlat` say whether it was reported or summed from fills.
    """
    source = position.source
    origin: dict[str, object] = {
        "source": "fills" if isinstance(source, FromFills) else "reported",
        "since": _milliseconds(source.since) if isinstance(source, FromFills) else None,
        "provenFlat": source.proven if isinstance(source, FromFills) else None,
    }
    if position.record is not None:
        return {**position.record.received, **origin}
    values: dict[str, Any] = {
        "marginCoin": position.margin_coin,
        "symbol": position.symbol,
        "holdSide": position.shown_leg,
        "total": _text(position.size),
        "openPriceAvg": _text(position.entry),
        "markPrice": _text(position.mark),
        "unrealizedPL": _text(position.unrealised),
        "achievedProfits": _text(position.realised),
        "posMode": position.mode.value if position.mode else None,
    }
    return {**{name: value for name, value in values.items() if value is not None}, **origin}


def _text(value: Decimal | None) -> str | None:
    return None if value is None else exact_digits(value)


def _milliseconds(moment: datetime | None) -> str | None:
    return None if moment is None else str(unix_ms(moment))
