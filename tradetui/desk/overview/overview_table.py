"""The table of several accounts: its columns, and the sums of each environment in words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Final

from tradetui.desk.overview.account_row import AccountRow, EnvironmentSum, RowState
from tradetui.desk.tables.cells.cell_format import CONVERTED, DEFAULT_FORMAT, UNKNOWN, CellFormat
from tradetui.desk.tables.cells.column import (
    Column,
    TableView,
    Tone,
    by_sign,
    money,
    money_column,
    number_column,
    percent_column,
    ranked,
    text_column,
)
from tradetui.desk.tables.columns.accounts import RISK_WORTH_A_WARNING
from tradetui.desk.tables.columns.positions import LIQUIDATION_NEAR
from tradetui.desk.tables.table import Table, TableName
from tradetui.trading.position_figures import signed_liquidation_distance
from tradetui.wire.text import counted

_DOLLARS: Final = "USDT"


def _dollars(_: AccountRow) -> str:
    return _DOLLARS


def _state_tone(row: AccountRow) -> Tone:
    if row.state >= RowState.STARTING:
        return Tone.MUTED
    return Tone.LOSS if row.state is RowState.UNKNOWN_OUTCOME else Tone.WARN


def _age_text(row: AccountRow, _: CellFormat) -> str:
    return UNKNOWN if row.age_s is None else f"{row.age_s:,} s"


def _age_tone(row: AccountRow) -> Tone:
    return Tone.WARN if row.is_late else Tone.MUTED


def _unrealised_text(row: AccountRow, cell_format: CellFormat) -> str:
    text = money(row.unrealised, _DOLLARS, cell_format, signed=True)
    return f"{CONVERTED}{text}" if row.unrealised != row.unrealised_in_usdt else text


def _nearest_symbol(row: AccountRow) -> str | None:
    position = row.nearest_liquidation
    return None if position is None else position.symbol


def _distance(row: AccountRow) -> Decimal | None:
    position = row.nearest_liquidation
    return None if position is None else signed_liquidation_distance(position)


def _held(value: Callable[[AccountRow], Decimal]) -> Callable[[AccountRow], Decimal | None]:
    """The value of one side; None while not every position's value is known."""
    return lambda row: None if row.exposure is None or row.exposure.unknown else value(row)


def _outcomes_text(row: AccountRow, _: CellFormat) -> str:
    if row.unknown_outcomes is None:
        return UNKNOWN
    return ", ".join(row.unknown_outcomes) if row.unknown_outcomes else "0"


def _fill_age_text(row: AccountRow, _: CellFormat) -> str:
    minutes = row.fill_age_min
    if minutes is None:
        return UNKNOWN
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} d"


def _tone_of_moved(column: Column[AccountRow], row: AccountRow) -> Tone:
    """The tone of a figure that has just changed, for a moment; else the column's own."""
    if column.id in row.moved:
        return Tone.MOVED
    return Tone.PLAIN if column.tone is None else column.tone(row)


_RANKED: Final[tuple[Column[AccountRow], ...]] = ranked(
    Column("state", "State", 8, lambda row: row.state.text, lambda row, _: row.state.text, tone=_state_tone)._replace(
        order=lambda row: int(row.state)
    ),
    Column("age", "Age", 5, lambda row: row.age_s, _age_text, right=True, tone=_age_tone, unit="s"),
    text_column("name", "Account", 12, lambda row: " ".join(row.names)),
    text_column("uid", "UID", 4, lambda row: row.uid_tail),
    text_column("environment", "Env", 7, lambda row: row.environment),
    money_column("equity", "Equity", 12, lambda row: row.equity, _dollars, unit=_DOLLARS),
    money_column("today", "Today", 10, lambda row: row.today, _dollars, profit=True, unit=_DOLLARS),
    Column(
        "unrealised",
        "Unrealised",
        11,
        lambda row: row.unrealised,
        _unrealised_text,
        right=True,
        tone=by_sign(lambda row: row.unrealised),
        unit=_DOLLARS,
    ),
    percent_column(
        "marginRatio",
        "Margin %",
        8,
        lambda row: row.margin_ratio,
        tone=lambda ratio: Tone.WARN if ratio >= RISK_WORTH_A_WARNING else Tone.PLAIN,
        unit="maintenance margin ÷ equity; 100 is liquidation",
    ),
    text_column("nearest", "Nearest", 8, _nearest_symbol),
    percent_column(
        "liquidation",
        "Away %",
        7,
        _distance,
        signed=True,
        tone=lambda distance: Tone.WARN if abs(distance) < LIQUIDATION_NEAR else Tone.PLAIN,
        order=lambda row: None if (distance := _distance(row)) is None else abs(distance),
        unit="from the mark to the nearest liquidation",
    ),
    number_column("positions", "Pos", 3, lambda row: None if row.positions is None else len(row.positions)),
    money_column("long", "Long", 11, _held(lambda row: row.exposure.long if row.exposure else Decimal(0)), _dollars),
    money_column("short", "Short", 11, _held(lambda row: row.exposure.short if row.exposure else Decimal(0)), _dollars),
    number_column("orders", "Orders", 6, lambda row: row.orders),
    Column(
        "unknownOutcomes",
        "Unknown",
        7,
        lambda row: None if row.unknown_outcomes is None else " ".join(row.unknown_outcomes),
        _outcomes_text,
        tone=lambda row: Tone.LOSS if row.unknown_outcomes else Tone.PLAIN,
        order=lambda row: None if row.unknown_outcomes is None else len(row.unknown_outcomes),
    ),
    Column(
        "lastFill",
        "Filled",
        6,
        lambda row: row.last_fill,
        _fill_age_text,
        right=True,
        order=lambda row: row.fill_age_min,
        unit="ago",
    ),
    text_column("access", "Access", 14, lambda row: row.access),
    text_column("problem", "Problem", 40, lambda row: row.problem, lambda _: Tone.WARN),
    kept_longest="state,name,equity,unrealised,marginRatio,unknownOutcomes,liquidation,nearest,today,age,uid"
    ",environment,positions,orders,access,long,short,lastFill,problem",
)

OVERVIEW_COLUMNS: Final = tuple(column._replace(tone=partial(_tone_of_moved, column)) for column in _RANKED)


class OverviewTable(Table[AccountRow]):
    """The table of accounts: its rows are not records, so it has only these columns."""

    @property
    def view(self) -> TableView[AccountRow]:
        return TableView(OVERVIEW_COLUMNS)

    @property
    def every_column(self) -> tuple[Column[AccountRow], ...]:
        return OVERVIEW_COLUMNS


OVERVIEW: Final = OverviewTable(
    name=TableName.OVERVIEW,
    key="O",
    title="Overview",
    label="Overview",
    subject="the accounts",
    endpoint_name="futures.accounts",
    nothing="No account.",
)


def sum_line(total: EnvironmentSum, cell_format: CellFormat = DEFAULT_FORMAT) -> str:
    """Format the sums of an environment in one line, with their accounts, the late ones, and the greatest age."""

    def figure(name: str, amount: Decimal | None, remark: str = "", *, signed: bool = True) -> str:
        return f"{name} {money(amount, _DOLLARS, cell_format, signed=signed)}{remark}"

    if not total.today_counted:
        days = " (no session ran when the day began)"
    else:
        days = f" of {counted(total.today_counted, 'account')}" if total.today_counted < total.counted else ""
    parts = [
        f"{total.environment} {total.text}",
        figure("equity", total.equity, " USDT", signed=False),
        figure("unrealised", total.unrealised, " of USDT-margined" if total.is_converted else ""),
        figure("today", total.today, days),
        "" if total.oldest_s is None else f"oldest {total.oldest_s} s",
    ]
    return " · ".join(filter(None, parts))
