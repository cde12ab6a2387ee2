"""Positions for scripts: all-position's own names, plus the source of every position."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from tradetui.commands.show.reading import ReadingProgress
from tradetui.desk.feeds.positions import PositionsReader
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused
from tradetui.trading.contract_math import exact_digits_if_known
from tradetui.trading.position_figures import nearest_stop
from tradetui.trading.positions import FromFills, Position
from tradetui.wire.enums import QUERIED_PLAN_TYPES
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import LiveTriggersRequest, TriggerOrder
from tradetui.wire.models.futures_accounts import PositionsRequest
from tradetui.wire.models.public import FundingRate, FundingRatesRequest
from tradetui.wire.product_types import ProductType


async def held_positions(
    client: ExchangeReader,
    requests: Sequence[PositionsRequest],
    progress: ReadingProgress,
    *,
    with_market: bool,
) -> AsyncIterator[Position]:
    """Positions as reported or summed from fills, `with_market` with the nearest stop-loss and the next funding."""
    reader = PositionsReader(client, [ProductType(request.product_type) for request in requests])
    coins = {request.product_type: request.margin_coin for request in requests}
    reading = await reader.read()
    progress.undecodable_rows += reading.undecodable_rows
    progress.see_symbols(reader.parts.left_out, reader.parts.kept_symbols)
    positions, error = reading.rows, reading.error
    for joined in (_with_stops, _with_funding) if with_market else ():
        try:
            positions = await joined(client, positions, progress)
        except (EndpointMissing, PermissionRefused):
            pass  # the exchange does not report it
        except ExchangeError as problem:
            error = error or problem
    for position in positions:
        coin = coins[position.product_type]
        if coin is None or (position.margin_coin or "").upper() == coin.upper():
            yield position
    if error is not None:
        raise error


async def _with_stops(
    client: ExchangeReader, positions: Sequence[Position], progress: ReadingProgress
) -> Sequence[Position]:
    waiting: dict[ProductType, list[TriggerOrder]] = {position.product_type: [] for position in positions}
    for product_type, stops in waiting.items():
        for plan_type in QUERIED_PLAN_TYPES:
            async for reply in client.pages(LiveTriggersRequest(product_type=product_type, plan_type=plan_type)):
                progress.undecodable_rows += len(reply.undecodable_rows)
                stops += reply.rows
    joined = []
    for position in positions:
        nearest = nearest_stop(position, waiting[position.product_type])
        market = position.market._replace(stop_state=nearest.state, stop=nearest.price, stop_part=nearest.part)
        joined.append(replace(position, market=market))
    return joined


async def _with_funding(
    client: ExchangeReader, positions: Sequence[Position], progress: ReadingProgress
) -> Sequence[Position]:
    rates: dict[tuple[ProductType, str], FundingRate] = {}
    for product_type in dict.fromkeys(position.product_type for position in positions):
        reply = await client.read(FundingRatesRequest(product_type=product_type))
        progress.undecodable_rows += len(reply.undecodable_rows)
        rates |= {(product_type, row.symbol.upper()): row for row in reply.rows}
    joined = []
    for position in positions:
        rate = rates.get((position.product_type, position.symbol))
        if rate is not None:
            market = position.market._replace(funding_rate=rate.funding_rate, next_funding=rate.next_update)
            position = replace(position, market=market)
        joined.append(position)
    return joined


def position_as_json(position: Position) -> dict[str, object]:
    """One position under the interface's names, without unknown fields, and whether it was reported or summed."""
    origin: dict[str, object] = {"source": "reported", "since": None, "provenFlat": None}
    if isinstance(source := position.source, FromFills):
        since = None if source.since is None else str(unix_ms(source.since))
        origin = {"source": "fills", "since": since, "provenFlat": source.proven}
    if position.record is not None:
        return {**position.record.received, **origin}
    values: dict[str, Any] = {
        "marginCoin": position.margin_coin,
        "symbol": position.symbol,
        "holdSide": position.shown_leg,
        "total": exact_digits_if_known(position.size),
        "openPriceAvg": exact_digits_if_known(position.entry),
        "markPrice": exact_digits_if_known(position.mark),
        "unrealizedPL": exact_digits_if_known(position.unrealised),
        "achievedProfits": exact_digits_if_known(position.realised),
        "posMode": position.mode.value if position.mode else None,
    }
    return {**{name: value for name, value in values.items() if value is not None}, **origin}
