"""The positions as a trader reads them: each figure of one worked account, its totals, and the line under the rows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.desk.fixtures.exchange_rows import trigger
from tradetui.desk.tables.cells.cell_format import CellFormat, Precision
from tradetui.desk.tables.cells.column import Tone
from tradetui.desk.tables.columns.positions import position_columns
from tradetui.desk.tables.rows.row_source import MemoryRows, view
from tradetui.desk.tables.table import POSITIONS
from tradetui.trading.contract_math import profit
from tradetui.trading.position_figures import nearest_stop, return_on_margin
from tradetui.trading.positions import FromFills, Position, PositionMarket, Reported, StopState
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.product_types import ProductType

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
NEXT_FUNDING = datetime(2026, 11, 21, 16, tzinfo=UTC)
PRECISIONS = {
    "SOLUSDT": Precision(3, 1),
    "BTCUSD": Precision(1, 4),
    "BTCUSDT": Precision(1, 4),
    "DOGEUSDT": Precision(5, 0),
}
FORMAT = CellFormat(UTC, PRECISIONS)


def held(
    symbol: str,
    leg: PositionSide,
    size: str,
    entry: str,
    mark: str,
    liquidation: str = "0",
    stop: str | None = None,
    rate: str | None = None,
    **fields: Any,
) -> Position:
    product_type = ProductType.COIN_FUTURES if symbol.endswith("USD") else ProductType.USDT_FUTURES
    return Position(
        product_type=product_type,
        symbol=symbol,
        leg=leg,
        size=Decimal(size),
        entry=Decimal(entry),
        mode=PositionMode.HEDGE,
        source=fields.pop("source", Reported()),
        mark=Decimal(mark),
        unrealised=profit(
            product_type, long=leg is LONG, size=Decimal(size), entry=Decimal(entry), price=Decimal(mark)
        ),
        liquidation=Decimal(liquidation),
        leverage=Decimal(10),
        margin_mode="crossed",
        market=PositionMarket(
            stop_state=StopState.NONE if stop is None else StopState.WAITING,
            stop=None if stop is None else Decimal(stop),
            funding_rate=None if rate is None else Decimal(rate),
            next_funding=NEXT_FUNDING,
        ),
        **fields,
    )


SOL = held("SOLUSDT", LONG, "201.3", "142.351", "138.468", "52.415", None, "0.000041")
BTCUSD = held("BTCUSD", LONG, "0.0894", "89495.6", "84166.5", "66100", "79900", "0.0001")
BTC = held("BTCUSDT", SHORT, "0.2934", "86470.6", "84197", "183225.8", "87900", "0.000068")
DOGE = held("DOGEUSDT", SHORT, "75269", "0.15802", "0.15342", "0.379", "0.169", "0.0001")


def texts(position: Position, cell_format: CellFormat = FORMAT) -> dict[str, str]:
    return {column.id: column.cell(position, cell_format)[0] for column in POSITIONS.columns}


@pytest.mark.parametrize(
    ("position", "row"),
    [
        (SOL, "SOLUSDT LONG 201.3 142.351 138.468 -781.65 -27.28 27,873.61 52.415 -62.15 no_stop -1.14"),
        (BTCUSD, "BTCUSD LONG 0.0894 89,495.6 84,166.5 ~-476.42 -63.32 7,524.49 66,100.0 -21.47 79,900.0 -0.75"),
        (BTC, "BTCUSDT SHORT 0.2934 86,470.6 84,197.0 +667.07 +26.29 24,703.40 183,225.8 +117.62 87,900.0 +1.68"),
        (DOGE, "DOGEUSDT SHORT 75,269 0.15802 0.15342 +346.24 +29.11 11,547.77 0.37900 +147.03 0.16900 +1.15"),
    ],
)
def test_each_figure_of_a_position(position: Position, row: str) -> None:
    shown = texts(position)
    ids = ("symbol", "leg", "size", "entry", "mark", "unrealised", "roi", "value", "liquidationPrice", "liquidation")
    assert [shown[id_] for id_ in (*ids, "stop", "funding")] == [cell.replace("_", " ") for cell in row.split()]


def test_the_columns_that_80_cells_keep_are_ranked_first() -> None:
    by_rank = sorted(POSITIONS.columns, key=lambda column: column.rank)
    assert [column.id for column in by_rank[:12]] == [
        *("symbol", "leg", "unrealised", "size", "liquidation", "mark", "roi", "entry"),
        *("stop", "liquidationPrice", "value", "funding"),
    ]
    essentials = [column for column in POSITIONS.columns if column.rank <= 8]
    assert sum(column.width for column in essentials) + len(essentials) - 1 <= 76


def test_what_is_not_known_is_a_dash_and_no_liquidation_is_said() -> None:
    bare = replace(SOL, leverage=None, mark=None, unrealised=None, market=PositionMarket(), liquidation=None)
    shown = texts(bare)
    for id_ in ("roi", "value", "liquidationPrice", "liquidation", "stop", "funding", "unrealised", "mark"):
        assert shown[id_] == "—", id_
    for liquidation in ("0", "-3", "60549679693.56"):
        far = texts(replace(SOL, liquidation=Decimal(liquidation)))
        assert (far["liquidationPrice"], far["liquidation"]) == ("none", "none")
    assert return_on_margin(replace(SOL, leverage=None)) is None


@pytest.mark.parametrize(
    ("state", "text", "tone"),
    [
        (StopState.NONE, "no stop", Tone.WARN),
        (StopState.UNREADABLE, "?", Tone.WARN),
        (StopState.NOT_READ, "—", Tone.PLAIN),
        (StopState.TRAILING, "trailing", Tone.PLAIN),
    ],
)
def test_a_position_without_a_stop_warns(state: StopState, text: str, tone: Tone) -> None:
    stop = next(column for column in POSITIONS.columns if column.id == "stop")
    assert stop.cell(replace(SOL, market=PositionMarket(stop_state=state)), FORMAT) == (text, tone)


STOP_NUMBERS = itertools.count()


def stop_of(symbol: str, price: str, plan_type: str = "pos_loss", side: str = "buy") -> TriggerOrder:
    leg = {"buy": "long", "sell": "short"}[side]
    hedge = {"posMode": "hedge_mode", "tradeSide": "close", "posSide": leg}
    return trigger(
        next(STOP_NUMBERS), "live", None, symbol=symbol, planType=plan_type, triggerPrice=price, side=side, **hedge
    )


def test_the_nearest_stop_is_the_one_of_the_leg_that_fires_first() -> None:
    waiting = [
        stop_of("BTCUSDT", "87900", side="sell"),
        stop_of("BTCUSDT", "87000", "loss_plan", side="sell"),
        stop_of("BTCUSDT", "86000", side="buy"),
        stop_of("ETHUSDT", "86900", side="sell"),
        stop_of("BTCUSDT", "80000", "pos_profit", side="sell"),
    ]
    assert nearest_stop(BTC, waiting)[:3] == (StopState.WAITING, Decimal(87_000), None)
    assert nearest_stop(replace(BTC, leg=LONG), waiting)[:3] == (StopState.WAITING, Decimal(86_000), None)
    assert nearest_stop(SOL, waiting)[:3] == (StopState.NONE, None, None)
    assert nearest_stop(replace(SOL, stop_loss=Decimal(120)), waiting)[:3] == (StopState.WAITING, Decimal(120), None)
    trailing = [stop_of("SOLUSDT", "150", "moving_plan")]
    assert nearest_stop(SOL, trailing)[:2] == (StopState.TRAILING, None)


@pytest.mark.parametrize(
    ("sizes", "plan_type", "text", "short", "tone"),
    [
        (("20.1",), "loss_plan", "9 % 120.000", "9 %", Tone.WARN),
        (("20.1", "181.2"), "loss_plan", "120.000", "set", Tone.PLAIN),
        (("0.1",), "loss_plan", "<1 % 120.000", "<1 %", Tone.WARN),
        (("0",), "loss_plan", "120.000", "set", Tone.PLAIN),
        (("",), "pos_loss", "120.000", "set", Tone.PLAIN),
        (("100",), "moving_plan", "49 % trailing", "49 %", Tone.WARN),
    ],
)
def test_stops_that_close_only_a_part_say_which_and_warn(
    sizes: tuple[str, ...], plan_type: str, text: str, short: str, tone: Tone
) -> None:
    waiting = [stop_of("SOLUSDT", "120.0", plan_type).model_copy(update={"size": Decimal(size or 0)}) for size in sizes]
    state, price, part = nearest_stop(SOL, waiting)[:3]
    position = replace(SOL, market=PositionMarket(stop_state=state, stop=price, stop_part=part))
    stop = next(column for column in POSITIONS.columns if column.id == "stop")
    assert stop.cell(position, FORMAT) == (text, tone)
    assert stop.short is not None and stop.short(position, FORMAT) == short


def test_a_stop_that_the_position_names_counts_for_all_of_it_unless_an_order_has_its_price() -> None:
    part = stop_of("SOLUSDT", "120", "loss_plan").model_copy(update={"size": Decimal("20.13")})
    named = replace(SOL, stop_loss=Decimal(120))
    assert nearest_stop(named, [])[:3] == (StopState.WAITING, Decimal(120), None)
    for waiting in ([part], [part, part]):
        assert nearest_stop(named, waiting)[:3] == (StopState.WAITING, Decimal(120), Decimal("0.1")), "each order once"


def test_a_trigger_of_a_kind_nobody_knows_is_no_stop() -> None:
    assert nearest_stop(SOL, [stop_of("SOLUSDT", "150", "other_plan")])[:3] == (StopState.NONE, None, None)


def test_a_stop_of_one_way_mode_closes_the_leg_its_side_goes_against() -> None:
    one_way = {"pos_mode": "one_way_mode", "trade_side": "sell_single", "pos_side": "net"}
    sells = stop_of("SOLUSDT", "120", side="sell").model_copy(update=one_way)
    net = replace(SOL, mode=PositionMode.ONE_WAY)
    assert nearest_stop(net, [sells])[:2] == (StopState.WAITING, Decimal(120))
    assert nearest_stop(replace(net, leg=SHORT), [sells])[:3] == (StopState.NONE, None, None)


def test_sorted_by_stop_what_has_none_stands_together_at_the_end() -> None:
    def with_stop(state: StopState, stop: str | None = None) -> Position:
        return replace(SOL, market=PositionMarket(stop=None if stop is None else Decimal(stop), stop_state=state))

    unprotected, trailing = with_stop(StopState.NONE), with_stop(StopState.TRAILING)
    positions = [
        unprotected,
        trailing,
        with_stop(StopState.WAITING, "120"),
        unprotected,
        with_stop(StopState.WAITING, "9"),
    ]
    stop = next(column for column in position_columns(positions) if column.id == "stop")
    rows = MemoryRows(positions, [str(index) for index in range(len(positions))], 1)
    for reverse, prices in ((False, ["9.000", "120.000"]), (True, ["120.000", "9.000"])):
        by_stop = view(rows, sort_key=stop.sort_key, reverse=reverse)
        texts = [stop.text(row, FORMAT) for index in range(by_stop.count) if (row := by_stop.row(index)) is not None]
        assert [text for text in texts if text[0].isdigit()] == prices
        assert texts[-2:] == ["no stop", "no stop"]
        assert stop.exact(trailing, FORMAT) == "—"


def test_totals_and_the_line_under_them() -> None:
    assert POSITIONS.view.footer is not None
    positions = [SOL, BTCUSD, BTC, DOGE]
    assert POSITIONS.view.footer(positions, FORMAT).totals == {
        "symbol": ("4", Tone.PLAIN),
        "unrealised": ("~-244.76", Tone.LOSS),
        "value": ("71,649.26", Tone.PLAIN),
        "funding": ("+0.94", Tone.GAIN),
        "stop": ("1 without", Tone.WARN),
    }
    east = CellFormat(timezone(timedelta(hours=8)), PRECISIONS)
    assert POSITIONS.view.footer(positions, east).short_note == (
        "worst SOLUSDT LONG -781.65 · long 35,398 · short 36,251 · net -853 USDT · next funding 00:00"
        " · ~ coin-margined, in USDT at the mark · crossed"
    )
    assert POSITIONS.view.footer([], FORMAT).short_note == ""


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert POSITIONS.view.footer is not None
    positions = [SOL, replace(BTC, mark=None, unrealised=None)]
    totals = POSITIONS.view.footer(positions, FORMAT).totals
    assert (totals["unrealised"][0], totals["value"][0], totals["funding"][0]) == ("—", "—", "—")
    assert str(POSITIONS.view.footer(positions, FORMAT).short_note).startswith(
        "worst SOLUSDT LONG -781.65? · long 27,874? · short 0? · net +27,874? USDT"
    )


def test_source_and_margin_mode_are_columns_only_where_rows_differ_or_warn() -> None:
    def ids(*positions: Position) -> set[str]:
        return {column.id for column in position_columns(positions)}

    assert not ids(SOL, BTC) & {"source", "marginMode"}
    assert ids(SOL, replace(BTC, margin_mode="isolated")) >= {"marginMode"}
    assert ids(SOL, replace(BTC, source=FromFills(proven_flat=True))) >= {"source"}
    assert ids(replace(BTC, source=FromFills())) >= {"source"}
    assert [column.id for column in position_columns([])] == [column.id for column in POSITIONS.columns]
