"""Text that would style, ring, link or break a terminal, and a screen of five panels full of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Static

from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import TABLES
from tradetui.ui.records.detail_screen import DetailScreen
from tradetui.ui.safe_text import notify, sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record

HOSTILE = (
    "\x1b[31mred",
    "\x1b]52;c;aGFja2Vk\x07clip",
    "\x1b]8;;https://evil.example\x1b\\link",
    "\x1b[2J\x1b[Hwipe",
    "\x9b31mc1",
    "\x07bell\x08\x0d",
    "‮bidi‏",
    "zero​width﻿",
    "[/]",
    "[@click=app.quit]quit[/]",
    "[link=https://evil.example]x[/link]",
    "[bold red]markup",
)
PANEL_NAMES = ("accounts", "orders", "fills", "triggers")
NUMBERS = {"size", "price", "baseVolume", "accountEquity", "cTime", "uTime"}


def hostile_record(panel: str, text: str, number: int) -> ProductRow[Record]:
    """A record of a panel with the text in every text field, unknown ones and broken numbers included."""
    row = TABLES[panel].endpoint.row
    values: dict[str, Any] = {}
    for name in row.names():
        values[name] = "1793491200000" if name in ("cTime", "uTime") else "1" if name in NUMBERS else text
    values |= {
        "tradeId": f"{number}{text}",
        "orderId": f"{number}{text}",
        "marginCoin": f"{text}{number}",
        "extra": text,
    }
    record: Record = row.from_row(values)
    return ProductRow(ProductType.USDT_FUTURES, record)


def hostile_rows(panel: str) -> MemoryRows[ProductRow[Record]]:
    rows = [hostile_record(panel, text, number) for number, text in enumerate(HOSTILE)]
    return MemoryRows(rows, [row.key for row in rows], 1)


class HostileApp(App[None]):
    """Every way for the exchange's words to the screen: cells, titles, messages and the detail view."""

    CSS = "RecordTable { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.tables: Mapping[str, RecordTable[object]] = {
            name: RecordTable(TABLES[name].columns) for name in PANEL_NAMES
        }

    def compose(self) -> ComposeResult:
        yield from self.tables.values()
        for text in HOSTILE:
            yield Static(sanitized(text), markup=False)
        yield Static("hostile-screen-ready", id="ready")

    def on_mount(self) -> None:
        for name, table in self.tables.items():
            table.set_source(hostile_rows(name))
        for text in HOSTILE:
            notify(self, text)
        row = hostile_record("fills", HOSTILE[0], 0)
        self.push_screen(DetailScreen("x", row.key, row, UTC))
        self.call_after_refresh(self.pop_screen)


if __name__ == "__main__":
    HostileApp().run()
    sys.exit(0)
