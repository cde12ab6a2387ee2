"""What `show --all` gives of an exchange that refuses to tell what is older than ninety days, to the minute."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.commands.test_show_options import ENVIRONMENT
from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    PATIENT,
    START_MS,
    ArrivedRequest,
    NoBudget,
    Say,
    Scripted,
    fill,
)
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.show.options import requests_of, show_parser
from tradetui.commands.show.reading import ReadingProgress, RowsReader
from tradetui.desk.tables.table import TABLES
from tradetui.exchange import ExchangeReader, LoopClock, Rejected
from tradetui.profiles.load import Flags, load
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures import FuturesFill

HOUR_MS = 3_600_000
PAGE_TAKES_S = 20.0


async def read_fills(folder: Path, *extra_options: str) -> tuple[list[int], ReadingProgress, int]:
    """The times of the fills that are shown, how the reading went, and the exchange's time at its end."""
    clock = LoopClock(START_MS)

    def answer(request: ArrivedRequest) -> Say:
        start, end = int(request.values["startTime"]), int(request.values["endTime"])
        if start < clock.wall_ms() - 90 * DAY_MS:
            return Say(code="40408", msg="startTime is out of range", status=400)
        rows = [{**fill(number), "cTime": str(START_MS - age * HOUR_MS)} for age, number in ages.items()]
        below = int(request.values.get("idLessThan", 10**19))
        rows = [row for row in rows if start <= int(row["cTime"]) <= end and int(row["tradeId"]) < below][:100]
        return Say({"fillList": rows, "endId": rows[-1]["tradeId"] if rows else None}, after=PAGE_TAKES_S)

    ages = {age: 100_000 - age for age in range(1, 200 * 24, 2)}
    client = ExchangeReader(
        CREDENTIALS,
        app=Scripted(answer, clock.wall_ms),
        clock=clock,
        budget=NoBudget(),
        random=random.Random(1),
        timeouts=PATIENT,
    )
    config = folder / "config.toml"
    config.write_text('[profiles.main]\ntimezone = "UTC"\nproduct_types = ["USDT-FUTURES"]\n')
    config.chmod(0o600)
    options = show_parser().parse_args(["fills", "--all", *extra_options])
    endpoint, profile = TABLES[options.what].endpoint, OpenProfile(load(ENVIRONMENT, Flags(config=config)))
    requests, span = requests_of(options, endpoint, profile.settings_without_key, clock.wall_ms())
    progress, times = ReadingProgress("fills"), []
    async for row in RowsReader(options, client, endpoint, span, progress).rows(requests):
        assert isinstance(row, FuturesFill)
        times.append(int(row.c_time.timestamp() * 1000))
    await client.aclose()
    return times, progress, clock.wall_ms()


@pytest.mark.looptime(end=10_000)
@pytest.mark.parametrize(("since", "goes_beyond"), [("200d", True), ("90d", False)])
async def test_everything_that_is_kept_is_given_to_the_last_minute(
    tmp_path: Path, since: str, goes_beyond: bool
) -> None:
    times, progress, end_ms = await read_fills(tmp_path, "--since", since)
    assert end_ms - START_MS > 200_000, "what is kept has moved on while pages were read"
    oldest_kept = end_ms - 90 * DAY_MS + 2 * 60_000
    expected = [START_MS - age * HOUR_MS for age in range(1, 90 * 24, 2)]
    assert times == [time for time in expected if time >= oldest_kept]
    assert (progress.refused_before is not None) == goes_beyond
    if progress.refused_before is not None:
        before_ms, refusal = progress.refused_before
        assert abs(before_ms - oldest_kept) < 3 * 60_000
        assert "startTime is out of range" in refusal.message


@pytest.mark.looptime(end=10_000)
async def test_a_period_of_which_nothing_is_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="startTime is out of range"):
        await read_fills(tmp_path, "--since", "200d", "--until", "100d")
