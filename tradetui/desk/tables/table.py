"""The one registry of tables, from which key bindings, panels, intervals, lookups and `tradetui show` are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, cast

from tradetui.desk.tables.rows.row_source import FeedRow, RowT_co

if TYPE_CHECKING:
    from tradetui.desk.tables.cells.column import Column, TableView
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
    from tradetui.wire.models.futures_accounts import FuturesAccount
    from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
    from tradetui.wire.models.subaccounts import SubaccountEmail, SubaccountTransfer
    from tradetui.wire.replies.record import Record


class TableName(StrEnum):
    """The name of a table: in its key binding, in `tradetui show`, and in saved choices."""

    ACCOUNTS = "accounts"
    POSITIONS = "positions"
    ORDERS = "orders"
    FILLS = "fills"
    TRIGGERS = "triggers"
    SPOT_FILLS = "spot-fills"
    SPOT_BILLS = "spot-bills"
    CONVERT = "convert"
    TRANSFERS = "transfers"
    EMAIL = "email"
    OVERVIEW = "overview"


class OtherView(NamedTuple):
    """Another view of a panel's rows: its title, its text without rows, and the stem of its file names."""

    title: str
    nothing: str
    file_stem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[RowT_co]):
    """One table; a `Table[object]` has a known name but unknown rows.

    `key` is the key that opens it, `label` its name beside a key, `subject` its rows within a sentence, and `nothing`
    the text without rows. `interval_s` is the seconds between reads; None for a lookup. `fields_shown` maps fields of
    the interface to the ids of their columns if these differ. `history_title` is set if every row ever seen is kept.
    `hint`, beside the title, says how to read the rows; `other_view` is another way to show them.
    """

    name: TableName
    key: str
    title: str
    label: str
    subject: str
    endpoint_name: str
    nothing: str
    interval_s: float | None = None
    fields_shown: Mapping[str, str] = field(default_factory=dict)
    history_title: str | None = None
    hint: str = ""
    other_view: OtherView | None = None

    @property
    def endpoint(self) -> Endpoint:
        from tradetui.wire.endpoints.catalogue import CATALOGUE

        return CATALOGUE[self.endpoint_name]

    @property
    def view(self) -> TableView[RowT_co]:
        return cast("TableView[RowT_co]", _views()[self.name])

    @property
    def columns(self) -> tuple[Column[RowT_co], ...]:
        """The columns shown if none were chosen."""
        return self.view.columns

    @property
    def every_column(self) -> tuple[Column[RowT_co], ...]:
        from tradetui.desk.tables.every_field import field_columns

        chosen = (*self.columns, *self.view.more_columns)
        taken = {column.id for column in chosen} | self.fields_shown.keys()
        return (*chosen, *field_columns(self.endpoint.row, taken))

    def title_of(self, name: str) -> str:
        """Return the title of the column of a field or of a column id; empty if there is no such column."""
        column_id = self.fields_shown.get(name, name)
        titles = (column.title for column in (*self.columns, *self.view.more_columns) if column.id == column_id)
        return next(titles, "")

    def default_columns(self, rows: Iterable[RowT_co]) -> tuple[Column[RowT_co], ...]:
        view = self.view
        return view.columns if view.columns_for is None else view.columns_for(rows)


@cache
def _views() -> Mapping[TableName, object]:
    """Load the columns of all tables, which nothing needs before there are rows."""
    from tradetui.desk.tables.cells.column import TableView
    from tradetui.desk.tables.columns import accounts, fills, orders, positions, shared_columns, triggers

    return {
        TableName.ACCOUNTS: accounts.ACCOUNTS_VIEW,
        TableName.POSITIONS: positions.POSITIONS_VIEW,
        TableName.ORDERS: orders.ORDERS_VIEW,
        TableName.FILLS: fills.FILLS_VIEW,
        TableName.TRIGGERS: triggers.TRIGGERS_VIEW,
        TableName.SPOT_FILLS: TableView(shared_columns.SPOT_FILL_COLUMNS),
        TableName.SPOT_BILLS: TableView(shared_columns.SPOT_BILL_COLUMNS),
        TableName.CONVERT: TableView(shared_columns.CONVERT_COLUMNS),
        TableName.TRANSFERS: TableView(shared_columns.TRANSFER_COLUMNS),
        TableName.EMAIL: TableView(shared_columns.EMAIL_COLUMNS),
    }


ACCOUNTS: Final[Table[ProductRow[FuturesAccount]]] = Table(
    name=TableName.ACCOUNTS,
    key="1",
    title="Accounts",
    label="Accounts",
    subject="the accounts",
    endpoint_name="futures.accounts",
    nothing="No futures account under these product types.\nThe profile's product_types say which are read.",
    interval_s=5.0,
)
POSITIONS: Final[Table[Position]] = Table(
    name=TableName.POSITIONS,
    key="2",
    title="Positions",
    label="Positions",
    subject="the positions",
    endpoint_name="futures.positions",
    fields_shown={
        "holdSide": "leg",
        "total": "size",
        "openPriceAvg": "entry",
        "markPrice": "mark",
        "unrealizedPL": "unrealised",
        "achievedProfits": "realised",
    },
    nothing="No open position.\nOne opened anywhere appears here within seconds.",
    interval_s=2.0,
)
ORDERS: Final[Table[ProductRow[PendingOrder]]] = Table(
    name=TableName.ORDERS,
    key="3",
    title="Orders",
    label="Orders",
    subject="the pending orders",
    endpoint_name="futures.pending_orders",
    nothing="No pending order.\nOnes placed anywhere appear here within seconds.",
    interval_s=2.0,
)
FILLS: Final[Table[ProductRow[FuturesFill]]] = Table(
    name=TableName.FILLS,
    key="4",
    title="Fills",
    label="Fills",
    subject="the fills",
    endpoint_name="futures.fills",
    nothing="No fill in the three months that the exchange reports.",
    interval_s=1.0,
    history_title="Every fill seen",
    hint="one row an order",
    other_view=OtherView(
        title="Every fill", nothing="No fill in the three months that the exchange reports.", file_stem="fills"
    ),
)
TRIGGERS: Final[Table[ProductRow[TriggerOrder]]] = Table(
    name=TableName.TRIGGERS,
    key="5",
    title="Stops",
    label="Stops",
    subject="the stops and trigger orders",
    endpoint_name="futures.triggers",
    nothing="No stop and no trigger order in the three months the exchange reports.",
    interval_s=10.0,
    history_title="Stops that ended",
    other_view=OtherView(
        title="Waiting stops",
        nothing="No stop and no trigger order waits.\nThe other view shows those that ended, too.",
        file_stem="waiting-stops",
    ),
)
SPOT_FILLS: Final[Table[SpotFill]] = Table(
    name=TableName.SPOT_FILLS,
    key="6",
    title="Spot fills",
    label="Spot fills",
    subject="spot fills",
    endpoint_name="spot.fills",
    nothing="No spot fill matches this query.",
)
SPOT_BILLS: Final[Table[SpotBill]] = Table(
    name=TableName.SPOT_BILLS,
    key="7",
    title="Spot bills",
    label="Spot bills",
    subject="the spot account's bills",
    endpoint_name="spot.bills",
    nothing="No spot bill matches this query.",
)
CONVERTS: Final[Table[ConvertRecord]] = Table(
    name=TableName.CONVERT,
    key="8",
    title="Convert history",
    label="Converts",
    subject="the convert history",
    endpoint_name="convert.history",
    nothing="Nothing was converted in this time.",
)
TRANSFERS: Final[Table[SubaccountTransfer]] = Table(
    name=TableName.TRANSFERS,
    key="9",
    title="Sub-account transfers",
    label="Transfers",
    subject="sub-accounts' transfers",
    endpoint_name="broker.transfers",
    nothing="No deposit or withdrawal in this time.",
)
EMAILS: Final[Table[SubaccountEmail]] = Table(
    name=TableName.EMAIL,
    key="0",
    title="Sub-account e-mail",
    label="E-mail",
    subject="a sub-account's e-mail",
    endpoint_name="broker.subaccount_email",
    nothing="The exchange reports no e-mail address.",
)

PANELS: Final[Mapping[str, Table[FeedRow]]] = {
    table.name: table for table in (ACCOUNTS, POSITIONS, ORDERS, FILLS, TRIGGERS)
}
LOOKUPS: Final[Mapping[str, Table[Record]]] = {
    table.name: table for table in (SPOT_FILLS, SPOT_BILLS, CONVERTS, TRANSFERS, EMAILS)
}
TABLES: Final[Mapping[str, Table[object]]] = {**PANELS, **LOOKUPS}
"""All tables by name, in the order of their keys."""
