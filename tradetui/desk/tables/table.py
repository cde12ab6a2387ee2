"""The one registry of tables: what each is called, which endpoint fills it, its columns, its key, how often it is read.

`PANELS` are read again and again and shown on the main screen; `LOOKUPS` are read when somebody asks for them. Key
bindings, panels, intervals, `tradetui show` and the history are made from this. Nothing here imports a model before
it is asked for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Generic

from tradetui.desk.tables.columns.accounts import ACCOUNT_COLUMNS, account_columns, account_totals
from tradetui.desk.tables.columns.broker import EMAIL_COLUMNS, TRANSFER_COLUMNS
from tradetui.desk.tables.columns.cell_format import CellFormat
from tradetui.desk.tables.columns.column import Column, Tone
from tradetui.desk.tables.columns.convert import CONVERT_COLUMNS
from tradetui.desk.tables.columns.fills import FILL_COLUMNS, FILL_COUNT, fill_columns
from tradetui.desk.tables.columns.orders import ORDER_COLUMNS
from tradetui.desk.tables.columns.positions import (
    POSITION_COLUMNS,
    SAID_ONCE,
    SUMMED_SINCE,
    position_columns,
    position_note,
    position_totals,
)
from tradetui.desk.tables.columns.spot import SPOT_BILL_COLUMNS, SPOT_FILL_COLUMNS
from tradetui.desk.tables.columns.triggers import TRIGGER_COLUMNS
from tradetui.desk.tables.row_source import FeedRow, RowT_co
from tradetui.desk.tables.row_sums import accounts_headline, fills_note, orders_note, positions_headline, stops_headline

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.catalogue import Endpoint
    from tradetui.wire.models.broker import SubaccountEmail, SubaccountTransfer
    from tradetui.wire.models.convert import ConvertRecord
    from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, TriggerOrder
    from tradetui.wire.models.spot import SpotBill, SpotFill
    from tradetui.wire.replies.record import Record


class TableName(StrEnum):
    """The name of a table: of its key binding, of what `tradetui show` reads, and of what was chosen for it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherView:
    """Another way to show a panel's rows: its title, what it means that there is no row, and its files' names."""

    title: str
    nothing: str
    file_stem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[RowT_co]):
    """One table. Who holds a `Table[object]` knows what it is called, but not what its rows are.

    `key` is the key that opens it, `label` its name beside a key, `subject` its rows in the middle of a sentence, and
    `nothing` says what it means that there is no row. `interval_s` is how often it is read, in seconds; None for what
    is looked up. `columns_for` gives the columns of some rows, where `columns` do not suit all; `more_columns` are not
    shown before they are chosen, and `fields_shown` are fields of the interface that `columns` show under other names.
    `history_title` is set where every row that was ever seen is kept. `hint` says beside the title how the rows are to
    be read, `other_view` how else they can be shown.

    `totals` gives the texts of the row under the rows, by column id; `note` the line under that, "" for none.
    `headline` is the one figure that a panel which is not on the screen would be opened for.
    """

    name: TableName
    key: str
    title: str
    label: str
    subject: str
    endpoint_name: str
    columns: tuple[Column[RowT_co], ...]
    nothing: str
    interval_s: float | None = None
    columns_for: Callable[[Iterable[RowT_co]], tuple[Column[RowT_co], ...]] | None = None
    more_columns: tuple[Column[RowT_co], ...] = ()
    fields_shown: frozenset[str] = frozenset()
    history_title: str | None = None
    hint: str = ""
    other_view: OtherView | None = None
    totals: Callable[[Iterable[RowT_co], CellFormat], Mapping[str, tuple[str, Tone]]] | None = None
    note: Callable[[Iterable[RowT_co], CellFormat], str] | None = None
    headline: Callable[[Iterable[RowT_co], CellFormat], str] | None = None

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint whose rows it shows."""
        from tradetui.wire.catalogue import endpoint

        return endpoint(self.endpoint_name)

    def default_columns(self, rows: Iterable[RowT_co]) -> tuple[Column[RowT_co], ...]:
        """The columns where nobody chose any and the table holds these rows."""
        return self.columns if self.columns_for is None else self.columns_for(rows)


ACCOUNTS: Final[Table[ProductRow[FuturesAccount]]] = Table(
    name=TableName.ACCOUNTS,
    key="1",
    title="Accounts",
    label="Accounts",
    subject="the accounts",
    endpoint_name="futures.accounts",
    columns=ACCOUNT_COLUMNS,
    columns_for=account_columns,
    totals=account_totals,
    headline=accounts_headline,
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
    columns=POSITION_COLUMNS,
    columns_for=position_columns,
    more_columns=(*SAID_ONCE, SUMMED_SINCE),
    totals=position_totals,
    note=position_note,
    headline=positions_headline,
    fields_shown=frozenset(
        {"holdSide", "total", "openPriceAvg", "markPrice", "unrealizedPL", "achievedProfits"},
    ),
    nothing="No open position.\nOne opened anywhere appears here within seconds; u reads at once.",
    interval_s=2.0,
)
ORDERS: Final[Table[ProductRow[PendingOrder]]] = Table(
    name=TableName.ORDERS,
    key="3",
    title="Orders",
    label="Orders",
    subject="the pending orders",
    endpoint_name="futures.pending_orders",
    columns=ORDER_COLUMNS,
    nothing="No pending order.\nOnes placed anywhere appear here within seconds; u reads at once.",
    interval_s=2.0,
    note=orders_note,
    headline=orders_note,
)
FILLS: Final[Table[ProductRow[FuturesFill]]] = Table(
    name=TableName.FILLS,
    key="4",
    title="Fills",
    label="Fills",
    subject="the fills",
    endpoint_name="futures.fills",
    columns=FILL_COLUMNS,
    columns_for=fill_columns,
    more_columns=(FILL_COUNT,),
    nothing="No fill in the three months that the exchange reports.",
    interval_s=1.0,
    history_title="Every fill seen",
    hint="one row an order",
    note=fills_note,
    headline=fills_note,
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
    columns=TRIGGER_COLUMNS,
    nothing="No stop and no trigger order in the three months the exchange reports.",
    interval_s=10.0,
    history_title="Every stop seen",
    headline=stops_headline,
    other_view=OtherView(
        title="Waiting stops",
        nothing="No stop and no trigger order waits.\nv shows those that ended, too.",
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
    columns=SPOT_FILL_COLUMNS,
    nothing="No spot fill matches this query.",
)
SPOT_BILLS: Final[Table[SpotBill]] = Table(
    name=TableName.SPOT_BILLS,
    key="7",
    title="Spot bills",
    label="Spot bills",
    subject="the spot account's bills",
    endpoint_name="spot.bills",
    columns=SPOT_BILL_COLUMNS,
    nothing="No spot bill matches this query.",
)
CONVERTS: Final[Table[ConvertRecord]] = Table(
    name=TableName.CONVERT,
    key="8",
    title="Convert history",
    label="Converts",
    subject="the convert history",
    endpoint_name="convert.history",
    columns=CONVERT_COLUMNS,
    nothing="Nothing was converted in this time.",
)
TRANSFERS: Final[Table[SubaccountTransfer]] = Table(
    name=TableName.TRANSFERS,
    key="9",
    title="Sub-account transfers",
    label="Transfers",
    subject="sub-accounts' transfers",
    endpoint_name="broker.transfers",
    columns=TRANSFER_COLUMNS,
    nothing="No deposit or withdrawal in this time.",
)
EMAILS: Final[Table[SubaccountEmail]] = Table(
    name=TableName.EMAIL,
    key="0",
    title="Sub-account e-mail",
    label="E-mail",
    subject="a sub-account's e-mail",
    endpoint_name="broker.subaccount_email",
    columns=EMAIL_COLUMNS,
    nothing="The exchange reports no e-mail address.",
)

PANELS: Final[Mapping[str, Table[FeedRow]]] = {
    table.name: table for table in (ACCOUNTS, POSITIONS, ORDERS, FILLS, TRIGGERS)
}
LOOKUPS: Final[Mapping[str, Table[Record]]] = {
    table.name: table for table in (SPOT_FILLS, SPOT_BILLS, CONVERTS, TRANSFERS, EMAILS)
}
TABLES: Final[Mapping[str, Table[object]]] = {**PANELS, **LOOKUPS}
"""All of them by name, in the order of their keys."""
