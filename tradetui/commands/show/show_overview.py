"""`tradetui show overview`: the accounts of several profiles, a row each, read once."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from tradetui.commands.process.console import ATTENTION, DONE, say, stdout
from tradetui.commands.process.output import CsvWriter, JsonWriter, TableWriter
from tradetui.commands.session.overview_profiles import OverviewProfiles, profile_names
from tradetui.desk.overview.account_row import AccountRow, RowState, sums_by_environment
from tradetui.desk.overview.overview_table import OVERVIEW_COLUMNS, sum_line
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.export import CsvTable
from tradetui.profiles.load import Flags
from tradetui.trading.contract_math import exact_digits
from tradetui.wire.exchange_time import unix_ms

LONGEST_LOOK_S: Final = 20.0
"""The longest wait for a silent account; others are read long before."""


async def show_overview(options: argparse.Namespace, flags: Flags) -> int:
    """Read every account once and print its row; returns the exit code. Raises ConfigurationError."""
    overview = OverviewProfiles(os.environ, flags, profile_names(options.profiles)).overview()
    overview.start()
    try:
        rows = await overview.look(LONGEST_LOOK_S)
    finally:
        await overview.stop()
    _print(rows, options)
    for total in sums_by_environment(rows):
        say(f"tradetui: {sum_line(total)}")
    return ATTENTION if any(row.state < RowState.STARTING or row.is_late for row in rows) else DONE


def _print(rows: Sequence[AccountRow], options: argparse.Namespace) -> None:
    if options.csv:
        table = CsvTable(OVERVIEW_COLUMNS)
        csv = CsvWriter(stdout(), table.heading(), table.cells)
        for row in rows:
            csv.write(row)
        csv.close()
        return
    writer = JsonWriter(stdout()) if options.json else TableWriter(stdout(), _titles())
    for row in rows:
        writer.write(_as_json(row) if options.json else _as_text(row))
    writer.close()


def _titles() -> Iterable[str]:
    return (column.title for column in OVERVIEW_COLUMNS)


def _as_text(row: AccountRow) -> dict[str, object]:
    return {column.title: column.text(row, DEFAULT_FORMAT) for column in OVERVIEW_COLUMNS}


def _as_json(row: AccountRow) -> dict[str, object]:
    return {column.id: _plain(column.value(row)) for column in OVERVIEW_COLUMNS} | {
        "uid": row.uid,
        "profiles": row.names,
        "unknownOutcomes": row.unknown_outcomes,
    }


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return exact_digits(value)
    return str(unix_ms(value)) if isinstance(value, datetime) else value
