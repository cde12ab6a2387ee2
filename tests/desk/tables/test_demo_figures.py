"""On the embedded exchange no cell shows more decimals than its rule, and points align where one unit fills."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from functools import cache
from typing import Any, Final

import pytest

from tests.bench.virtual_loop import run
from tests.desk.fixtures.desk_simulation import Simulation
from tradetui.desk.desk import Desk
from tradetui.desk.tables.cells.cell_format import MOST_COIN_PLACES, CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.table import PANELS
from tradetui.trading.contract_math import is_dollar
from tradetui.wire.product_types import margin_coin

PRICES: Final = re.compile(r"[pP]rice(Avg)?$|^(entry|mark|stop|takeProfit|stopLoss)$")
SIZES: Final = {"size", "baseVolume"}
PER_CENT: Final = {"roi", "liquidation", "away", "freePart", "crossedRiskRate", "marginRatio"}
IN_DOLLARS: Final = {"unrealised", "realised", "value", "funding", "quoteVolume", "usdtEquity", "free"}
NO_FIGURES: Final = {"leverage", "callbackRatio", "fills", "filled"}
NUMBER: Final = re.compile(r"\d[\d,]*(?:\.(\d+))?")


def decimals_shown(text: str) -> list[int]:
    """How many decimals each number in a text has."""
    return [len(match.group(1) or "") for match in NUMBER.finditer(text)]


def most_decimals(column: Column[Any], row: Any, cell_format: CellFormat) -> int | None:
    """The rule of a cell; None where it is no figure."""
    if not column.right or column.id in NO_FIGURES:
        return None
    symbol = str(getattr(row, "symbol", None) or getattr(row.record, "symbol", ""))
    if PRICES.search(column.id):
        return cell_format.precision_of(symbol).price
    if column.id in SIZES:
        return cell_format.precision_of(symbol).size
    if column.id in PER_CENT or column.id in IN_DOLLARS:
        return 2
    coin = getattr(row.record, "margin_coin", None) or margin_coin(row.product_type, symbol)
    if column.id == "fee":
        return 4 if coin is not None and is_dollar(coin) else MOST_COIN_PLACES
    return 2 if coin is not None and is_dollar(coin) else cell_format.coin_places[str(coin)]


def shown_rows(desk: Desk) -> Iterator[tuple[Column[Any], Any]]:
    """Each column with each row of each panel, in both views."""
    for name, table in PANELS.items():
        for other_view in (False, True):
            if other_view and not desk.has_other_view(name):
                continue
            rows = desk.panel_rows(name, other_view=other_view).rows
            columns = (*table.default_columns(rows), *table.view.more_columns)
            yield from ((column, row) for row in rows for column in columns)


@cache
def started(account: str) -> tuple[Desk, CellFormat]:
    """A desk that has read everything of an account, and what its cells are written by."""
    desk = Simulation(7, account, checked=False, fills=600).desk

    async def read() -> None:
        desk.start()
        await asyncio.sleep(15)
        await desk.stop()

    run(read())
    return desk, CellFormat(UTC, desk.market.precisions, coin_places=desk.market.coin_places)


@pytest.mark.parametrize("account", ["hedge", "one-way", "coin", "multi-assets", "isolated"])
def test_no_cell_of_the_demo_shows_more_decimals_than_its_rule(account: str) -> None:
    desk, cell_format = started(account)
    cells = 0
    for column, row in shown_rows(desk):
        most = most_decimals(column, row, cell_format)
        if most is None:
            continue
        text, _ = column.cell(row, cell_format)
        assert max(decimals_shown(text), default=0) <= most, f"{column.id}: {text}"
        cells += 1
    assert cells > 200


def test_points_align_in_columns_of_one_unit_and_thousands_are_apart() -> None:
    desk, cell_format = started("hedge")
    aligned: set[str] = set()
    for column, row in shown_rows(desk):
        text, _ = column.cell(row, cell_format)
        if column.right:
            assert not re.search(r"\d{4,}(?=\.|$)", text.partition(".")[0] + "."), f"{column.id}: {text}"
        if column.id in PER_CENT | IN_DOLLARS and any(letter.isdigit() for letter in text):
            assert decimals_shown(text) == [2], f"{column.id}: {text}"
            aligned.add(column.id)
    assert aligned >= {"unrealised", "value", "funding", "roi", "away", "freePart", "usdtEquity"}


def test_totals_keep_the_rule_of_their_column() -> None:
    desk, cell_format = started("hedge")
    totals: Mapping[str, tuple[str, object]]
    for name, table in PANELS.items():
        if table.view.footer is None:
            continue
        totals = table.view.footer(desk.panel_rows(name).rows, cell_format).totals
        for id_, (text, _) in totals.items():
            column = next(column for column in (*table.columns, *table.view.more_columns) if column.id == id_)
            places = (4 if id_ == "fee" else 2) if column.right else 0
            assert max(decimals_shown(text), default=0) <= places, f"{name} {id_}: {text}"
