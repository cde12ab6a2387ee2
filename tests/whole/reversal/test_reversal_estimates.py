"""What the preview estimates is what the exchange reports afterwards: margin, ratio, liquidation price, entry."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from unittest.mock import Mock

import pytest

from tests.sandbox.exchange_events import open_position
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene
from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Target
from tradetui.sandbox.app import SandboxOptions
from tradetui.trading.estimates.cost_estimates import PriceSource
from tradetui.trading.estimates.reversal_actuals import differing
from tradetui.trading.estimates.reversal_estimates import Estimable, ReversalEstimates
from tradetui.trading.positions import sensible_liquidation
from tradetui.wire.enums import Side
from tradetui.wire.models.futures_accounts import FuturesAccount, ReportedPosition

pytestmark = pytest.mark.looptime


async def reported(on: Scene, leg: str) -> tuple[FuturesAccount, ReportedPosition]:
    accounts = await on.client.futures.accounts(product_type=USDT)
    positions = await on.client.futures.positions(product_type=USDT)
    account = next(row for row in accounts.rows if row.margin_coin == "USDT")
    return account, next(row for row in positions.rows if (row.symbol, row.hold_side) == (SYMBOL, leg))


async def estimated(on: Scene, target: Target) -> ReversalEstimates:
    """The estimates of a reversal, which is then done."""
    preview = await on.execution.preview(target)
    assert preview.estimates is not None
    sent = await on.execution.confirm(preview, preview.subject)
    *_, end = [progress async for progress in on.execution.follow(sent)]
    assert end.outcome is Outcome.REVERSED
    assert end.aftermath is not None and end.aftermath.actuals is not None and not end.aftermath.unread
    actuals = end.aftermath.actuals
    assert None not in (actuals.profit, actuals.fees, actuals.free, actuals.ratio)
    assert actuals.reports_liquidation and actuals.stops_read
    assert differing(preview.estimates, actuals, is_inverse=False) == frozenset()
    return preview.estimates


async def test_core_only_the_outcome_has_the_fills_and_the_account_and_no_liquidation_price() -> None:
    async with scene(core_only=True) as on:
        on.hold(long="10")
        sent = await on.confirm(Target(SYMBOL, USDT, Side.BUY))
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.aftermath is not None and end.aftermath.actuals is not None
        actuals = end.aftermath.actuals
        assert actuals.free is not None
        assert not actuals.reports_liquidation and not actuals.stops_read


async def test_what_only_explains_a_reversal_is_not_computed_between_confirming_and_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="10")
        shown = await on.execution.preview(Target(SYMBOL, USDT, Side.BUY))
        explain = Mock(side_effect=ArithmeticError("an estimate that fails"))
        monkeypatch.setattr("tradetui.desk.reversal.preview.reversal_estimates", explain)
        monkeypatch.setattr("tradetui.desk.reversal.preview.resting_after", explain)
        await on.execution.confirm(shown, shown.subject)
        assert on.posts == 1
        explain.assert_not_called()


def close(estimate: Decimal | None, actual: Decimal | None, within: str) -> bool:
    assert estimate is not None and actual is not None
    return abs(estimate - actual) <= abs(actual) * Decimal(within)


@pytest.mark.parametrize(
    ("mode", "long", "short", "side", "size", "opened"),
    [
        ("hedge", "0.2", "0.5", Side.SELL, None, "long"),
        ("hedge", "0.2", "0.5", Side.BUY, None, "short"),
        ("hedge", "0.5", "0", Side.BUY, None, "short"),
        ("hedge", "0.5", "0", Side.BUY, "0.2", "short"),
        ("hedge", "0.1", "0.5", Side.SELL, "0.3", "long"),
        ("one-way", "0.5", "0", None, None, "short"),
        ("one-way", "0", "0.5", None, None, "long"),
    ],
)
@pytest.mark.parametrize("isolated", [False, True])
async def test_the_exchange_reports_afterwards_what_the_preview_estimated(
    mode: str, long: str, short: str, side: Side | None, size: str | None, opened: str, isolated: bool
) -> None:
    async with scene(mode) as on:
        book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
        book.balances["USDT"] = Decimal(9000)
        book.isolated = frozenset({SYMBOL}) if isolated else frozenset()
        open_position(on.sandbox.exchange_state, on.uid, "ETHUSDT", "long", Decimal(2))
        on.hold(long=long, short=short)
        estimates = await estimated(on, Target(SYMBOL, USDT, side, None if size is None else Decimal(size)))
        account, position = await reported(on, opened)
        costs, risks = estimates.costs, estimates.risks
        assert costs.price_from is (PriceSource.BID if opened == "short" else PriceSource.ASK)
        assert close(costs.free_after, account.crossed_max_available, "0.001")
        assert close(costs.entry_after, position.open_price_avg, "0.0001")
        assert risks.estimable is Estimable.YES
        assert risks.ratio_is_own is isolated
        assert close(risks.ratio_after, position.margin_ratio if isolated else account.crossed_risk_rate, "0.005")
        assert position.liquidation_price is not None and position.mark_price is not None
        liquidation = sensible_liquidation(position.liquidation_price, position.mark_price)
        assert risks.liquidation_after is liquidation or close(risks.liquidation_after, liquidation, "0.001")


async def test_of_two_rows_of_the_margin_coin_that_differ_none_says_what_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene("hedge") as on:
        on.hold(long="0.5")
        rows = on.sandbox.exchange_state.futures_accounts(on.uid, str(USDT))
        differing = [{**row, "crossedMaxAvailable": "1"} for row in rows]
        monkeypatch.setattr(on.sandbox.exchange_state, "futures_accounts", lambda *_: [*rows, *differing])
        preview = await on.execution.preview(Target(SYMBOL, USDT, Side.BUY))
        assert preview.estimates is not None
        assert (preview.estimates.costs.free, preview.estimates.costs.free_after) == (None, None)


async def test_without_a_ticker_the_mark_is_the_price_and_nothing_waits_for_it() -> None:
    async with scene() as on:
        on.hold(long="0.5")
        on.sandbox.options = SandboxOptions(seed=3, limits=False, delay_ms=60_000)
        on.sandbox.faults.plan("delay", endpoint="futures.ticker", times=1_000)
        preview = await on.execution.preview(Target(SYMBOL, USDT, Side.BUY))
        assert preview.estimates is not None
        assert preview.estimates.costs.price_from is PriceSource.MARK
        assert preview.read_at - preview.requested_at < 2


@pytest.mark.parametrize("price", ["0", "-5"])
async def test_a_newest_fill_without_a_price_gives_no_notional_that_a_limit_lets_pass(price: str) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="0.5")
        on.execution.settings = replace(on.execution.settings, max_reversal_value=Decimal(1000))
        on.sandbox.exchange_state.book(on.uid, str(USDT)).fills[-1]["price"] = price
        preview = await on.execution.preview(Target(SYMBOL, USDT, Side.BUY))
        unknown = "The value is not known, so it cannot be compared with max_reversal_value."
        assert unknown in on.execution.blocking_reasons(preview, preview.subject)
