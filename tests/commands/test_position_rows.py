"""What `show positions` writes where not all that it joins can be read."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.desk.fixtures.scripted_exchange import USDT, ScriptedClient
from tests.trading.test_orders_after_reversal import stop
from tradetui.commands.show.reading import ReadingProgress, held_positions
from tradetui.exchange.errors import EndpointMissing, ExchangeError, Rejected
from tradetui.trading.positions import Position, StopState
from tradetui.wire.models.futures_accounts import PositionsRequest, ReportedPosition
from tradetui.wire.models.public import FundingRate

STOPS, FUNDING = "futures.live_triggers", "futures.funding_rates"


async def written(client: ScriptedClient, **fields: str) -> tuple[list[Position], ExchangeError | None, int]:
    """The rows, the error that came behind them, and how many rows could not be read."""
    row = {"symbol": "BTCUSDT", "holdSide": "long", "total": "3", "posMode": "hedge_mode", **fields}
    client.rows["futures.positions", USDT] = [ReportedPosition.from_row(row)]
    client.rows[STOPS, USDT] = [stop("profit_loss", "buy", "close")]
    client.rows[FUNDING, USDT] = [FundingRate.from_row({"symbol": "BTCUSDT", "fundingRate": "0.0001"})]
    positions: list[Position] = []
    progress = ReadingProgress("positions")
    requests = [PositionsRequest(product_type=USDT)]
    try:
        async for position in held_positions(client, requests, progress, with_market=True):  # type: ignore[arg-type]
            positions.append(position)
    except ExchangeError as error:
        return positions, error, progress.undecodable_rows
    return positions, None, progress.undecodable_rows


@pytest.mark.parametrize("failing", [STOPS, FUNDING])
@pytest.mark.parametrize(
    ("problem", "is_reported"), [(EndpointMissing("no", code="40404"), False), (Rejected("no", code="400172"), True)]
)
async def test_positions_are_written_though_what_is_joined_cannot_be_read(
    problem: ExchangeError, is_reported: bool, failing: str
) -> None:
    client = ScriptedClient()
    client.failing[failing] = problem
    ((position,), error, _) = await written(client)
    assert position.symbol == "BTCUSDT"
    assert (position.market.stop_state is StopState.NONE) == (failing == FUNDING)
    assert position.market.funding_rate == (None if failing == FUNDING else Decimal("0.0001"))
    assert error is (problem if is_reported else None)


async def test_stops_that_cannot_be_decoded_are_counted() -> None:
    client = ScriptedClient()
    client.unreadable.add(STOPS)
    positions, error, undecodable = await written(client)
    assert len(positions) == 1 and error is None and undecodable == 1


async def test_the_stop_of_a_position_is_written_where_those_that_wait_are_not_reported() -> None:
    client = ScriptedClient()
    client.failing[STOPS] = EndpointMissing("no", code="40404")
    ((position,), *_) = await written(client, stopLoss="60000")
    assert position.market.stop == Decimal(60_000), "as on the screen"
