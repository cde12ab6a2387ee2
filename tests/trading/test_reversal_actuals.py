"""What a reversal did, beside its estimates: the worked account, what cannot be told, and what counts as different."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.trading.test_reversal import plan
from tests.trading.test_reversal_estimates import BASIS, SHORT, STOPS, USDT, account, cents, estimated, leg, waiting
from tradetui.trading.estimates.reversal_actuals import ReversalActuals, RiskFigure, differing, reversal_actuals
from tradetui.trading.holdings import Net
from tradetui.trading.positions import Position
from tradetui.wire.models.futures import FuturesFill

HELD = leg("long", "0.4148", "84945.0", liquidationPrice="42900")


def own_fill(size: str, trade_side: str, profit: str, *fees: dict[str, str]) -> FuturesFill:
    return FuturesFill.from_row(
        {
            "tradeId": f"{trade_side}{size}",
            "symbol": "BTCUSDT",
            "price": "84197.1",
            "baseVolume": size,
            "side": "sell" if trade_side == "close" else "buy",
            "tradeSide": trade_side,
            "posMode": "hedge_mode",
            "profit": profit,
            "cTime": "1793000000000",
            "feeDetail": list(fees),
        }
    )


FEE = {"feeCoin": "USDT", "totalFee": "-14.8221"}
FILLS = [own_fill("0.2934", "close", "667.0449", FEE), own_fill("0.2934", "open", "0", FEE)]


def actual(**changed: Any) -> ReversalActuals:
    values: dict[str, Any] = {
        "plan": SHORT,
        "fills": FILLS,
        "positions": [HELD],
        "account": account(crossedMaxAvailable="4753.10", crossedRiskRate="0.0521"),
        "stops": STOPS[:2],
    }
    return reversal_actuals(**{**values, **changed})


def test_the_outcome_of_the_worked_account_meets_its_estimates() -> None:
    actuals = actual()
    assert (cents(actuals.profit), cents(actuals.fees), cents(actuals.free)) == ("667.04", "-29.64", "4753.10")
    assert (actuals.ratio, actuals.liquidation) == (Decimal("0.0521"), Decimal(42900))
    assert (actuals.stop_price, cents(actuals.stopped)) == (Decimal(82500), "-1014.19")
    assert differing(estimated(), actuals, is_inverse=False) == frozenset()


@pytest.mark.parametrize(
    ("changed", "figure"),
    [
        ({"profit": Decimal("540")}, RiskFigure.PROFIT),
        ({"fees": Decimal("-30")}, RiskFigure.FEES),
        ({"free": Decimal("4400")}, RiskFigure.FREE_MARGIN),
        ({"ratio": Decimal("0.06")}, RiskFigure.MARGIN_RATIO),
        ({"liquidation": Decimal(44000)}, RiskFigure.LIQUIDATION),
        ({"stopped": Decimal(-1200)}, RiskFigure.IF_STOPPED),
        ({"stop_price": None, "stopped": None}, RiskFigure.IF_STOPPED),
    ],
)
def test_what_is_further_from_its_estimate_than_a_half_per_cent_of_the_price_explains_is_different(
    changed: dict[str, Any], figure: RiskFigure
) -> None:
    assert differing(estimated(), replace(actual(), **changed), is_inverse=False) == {figure}


def test_a_ratio_that_was_the_most_it_could_be_is_different_only_above_that() -> None:
    known = estimated()
    worst = replace(known, risks=replace(known.risks, ratio_is_most=True))
    below, above = (replace(actual(), ratio=Decimal(ratio)) for ratio in ("0.03", "0.06"))
    assert differing(worst, below, is_inverse=False) == frozenset()
    assert differing(worst, above, is_inverse=False) == {RiskFigure.MARGIN_RATIO}


@pytest.mark.parametrize(
    "fees", [(), ({"feeCoin": "BGB", "totalFee": "-1"},), ({"feeCoin": "USDT"},)], ids=["none", "BGB", "no amount"]
)
def test_fees_that_a_fill_does_not_tell_in_the_margin_coin_are_not_known(fees: tuple[dict[str, str], ...]) -> None:
    actuals = actual(fills=[FILLS[0], own_fill("0.2934", "open", "0", *fees)])
    assert actuals.fees is None
    assert actuals.profit is not None


def test_what_cannot_be_read_is_not_known_and_never_different() -> None:
    nothing = actual(fills=[], positions=[], account=None, stops=None)
    assert nothing == ReversalActuals()
    assert differing(estimated(), nothing, is_inverse=False) == frozenset()


def test_a_price_beyond_all_sense_means_that_nothing_liquidates() -> None:
    actuals = actual(positions=[leg("long", "0.4148", "84945.0", liquidationPrice="-12")])
    assert actuals.reports_liquidation
    assert actuals.liquidation is None


def test_a_stop_that_only_the_position_names_counts() -> None:
    held = leg("long", "0.4148", "84945.0", stopLoss="82500")
    assert actual(positions=[held], stops=[]).stop_price == Decimal(82500)


def test_a_trailing_stop_of_what_is_held_is_no_missing_stop() -> None:
    trailing = actual(stops=[waiting("long", "82500.0", "moving_plan")])
    assert (trailing.stop_price, trailing.trails) == (None, True)
    assert not actual(stops=[waiting("short", "82500.0", "moving_plan")]).trails


def test_an_isolated_leg_has_figures_of_its_own() -> None:
    own = leg("long", "0.4148", "84945.0", marginMode="isolated", marginRatio="0.031")
    actuals = actual(positions=[own], account=account(isolatedMaxAvailable="12"))
    assert (actuals.free, actuals.ratio) == (Decimal(12), Decimal("0.031"))


def test_a_margin_mode_that_nobody_knows_tells_neither_free_margin_nor_ratio() -> None:
    own = leg("long", "0.4148", "84945.0", marginMode="portfolio", marginRatio="0.031")
    actuals = actual(positions=[own], account=account(isolatedMaxAvailable="12"))
    assert (actuals.free, actuals.ratio) == (None, None)
    assert actuals.liquidation is not None


@pytest.mark.parametrize("size", [None, "0.1"])
def test_in_one_way_mode_it_is_the_net_that_is_held(size: str | None) -> None:
    net: Position = leg("short" if size else "long", "0.1", "84000", posMode="one_way_mode")
    stops = [waiting("short", "87900")]
    one_way = plan(Net(Decimal("-0.2934")), size=size)
    actuals = reversal_actuals(one_way, FILLS, [net], account(), stops)
    assert actuals.liquidation == net.liquidation


def test_of_a_coin_margined_contract_a_price_moves_the_coin_s_amount() -> None:
    estimates = estimated()
    moved = replace(actual(), profit=estimates.costs.realised + Decimal("0.2934") * Decimal("0.004"))
    assert differing(estimates, moved, is_inverse=True) & {RiskFigure.PROFIT} == set()
    assert BASIS.position is not None and BASIS.position.product_type is USDT
