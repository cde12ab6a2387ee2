"""The curve of many samples: return and drawdown as of all of them, though only some are drawn, and every gap kept."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

from tests.desk.fixtures.bill_rows import bill
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.coverage import BillCoverage
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, EquitySample, Rates, add_sample
from tradetui.desk.results.equity_of_period import equity_of_period
from tradetui.trading.results.returns import (
    CashFlow,
    EquityPoint,
    equity_curve,
    max_drawdown,
    time_weighted_return,
)

NOW_MS = 1_793_000_040_000
MINUTE = SAMPLED_EVERY_MS


@pytest.mark.parametrize("seed", range(8))
def test_return_and_drawdown_are_those_of_every_sample(seed: int) -> None:
    chance = random.Random(seed)
    archive, begin = Archive(None), NOW_MS - 2_000 * MINUTE
    equity, points = Decimal(1000), []
    missing = {*range(300, 300 + chance.randint(3, 90)), *range(1500, 1500 + chance.randint(3, 90))}
    flows = sorted(
        CashFlow(begin + chance.randint(1, 1_999 * MINUTE), Decimal(chance.randint(-300, 900))) for _ in range(seed)
    )
    waiting = list(flows)
    for minute in range(2_001):
        time = begin + minute * MINUTE
        while waiting and waiting[0].time <= time:
            equity += waiting.pop(0).amount
        equity = max(Decimal(1), equity + Decimal(chance.randint(-500, 505)) / 100)
        if minute not in missing:
            points.append(EquityPoint(time, equity))
            add_sample(archive.connection, (USDT,), EquitySample(time, equity, Decimal(0)))
    bills = [bill(number, flow.time, "trans_from_exchange", str(flow.amount)) for number, flow in enumerate(flows)]
    archive.add_bills(USDT, bills, BillCoverage(0, NOW_MS))
    result = equity_of_period(archive.connection, (USDT,), begin, NOW_MS, NOW_MS, Rates({}))
    every = list(equity_curve(points, flows))
    drawn = [point for stretch in result.curve for point in stretch]
    assert result.drawdown is not None and result.time_weighted is not None
    whole_return, whole_drawdown = time_weighted_return(every), max_drawdown(every)
    assert whole_return is not None and whole_drawdown is not None
    assert abs(result.time_weighted - whole_return) < Decimal("1e-20")
    assert abs(result.drawdown.fraction - whole_drawdown.fraction) < Decimal("1e-20")
    assert len(drawn) < 1_000
    assert {(point.time, point.equity) for point in drawn} <= {(point.time, point.equity) for point in every}
    assert len(result.curve) == 3
    assert max(point.growth for point in drawn) == max(point.growth for point in every)
    ends = [(stretch[0].time, stretch[-1].time) for stretch in result.curve]
    assert [later[0] - earlier[1] > 3 * MINUTE for earlier, later in itertools.pairwise(ends)] == [True, True]
