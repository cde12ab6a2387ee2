"""Columns of the deposits and withdrawals of sub-accounts, and of their e-mail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.column import Column, Tone, id_column, ranked, text_column, time_column
from tradetui.desk.tables.cells.figure_columns import money_column
from tradetui.desk.tables.cells.number_format import text_as_given

if TYPE_CHECKING:
    from tradetui.wire.models.broker import SubaccountEmail, SubaccountTransfer


def _type_tone(transfer: SubaccountTransfer) -> Tone:
    if transfer.is_withdrawal:
        return Tone.LOSS
    return Tone.GAIN if transfer.is_deposit else Tone.PLAIN


_TRANSFER_COLUMNS: Final[tuple[Column[SubaccountTransfer], ...]] = (
    time_column("ts", "Time", lambda row: row.ts),
    id_column("uid", "Sub-account", 12, lambda row: row.uid),
    Column("type", "Type", lambda row: row.type, lambda row, _: text_as_given(row.type), 10, tone=_type_tone),
    text_column("subType", "Kind", 12, lambda row: row.sub_type),
    money_column("amount", "Amount", 16, lambda row: row.amount, lambda row: row.coin, unit="coin"),
    text_column("coin", "Coin", 6, lambda row: row.coin),
    text_column("status", "Status", 10, lambda row: row.status),
    id_column("txId", "Transaction", 24, lambda row: row.tx_id),
)
TRANSFER_COLUMNS: Final[tuple[Column[SubaccountTransfer], ...]] = ranked(
    _TRANSFER_COLUMNS, "ts", "amount", "coin", "type", "status", "uid"
)

EMAIL_COLUMNS: Final[tuple[Column[SubaccountEmail], ...]] = (
    id_column("subUid", "Sub-account", 14, lambda row: row.sub_uid),
    text_column("subaccountEmail", "E-mail", 32, lambda row: row.subaccount_email),
    text_column("subaccountName", "Name", 32, lambda row: row.subaccount_name),
    time_column("cTime", "Created", lambda row: row.c_time),
    time_column("uTime", "Updated", lambda row: row.u_time),
)
