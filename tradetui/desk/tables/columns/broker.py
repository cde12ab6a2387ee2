"""Columns of the deposits and withdrawals of sub-accounts, and of their e-mail."""

from __future__ import annotations

from typing import Any, Final

from tradetui.desk.tables.columns.column import Column, Tone, get, id_column, number_column, text_column, time_column
from tradetui.desk.tables.number_format import text_as_given


def _type_tone(row: Any) -> Tone:
    if row.is_withdrawal:
        return Tone.LOSS
    return Tone.GAIN if row.is_deposit else Tone.PLAIN


TRANSFERS: Final = (
    time_column("ts", "Time"),
    id_column("uid", "Sub-account", 12, "uid"),
    Column("type", "Type", get("type"), lambda row, _: text_as_given(row.type), 10, tone=_type_tone),
    text_column("subType", "Kind", 12, "sub_type"),
    number_column("amount", "Amount", 16, unit="coin"),
    text_column("coin", "Coin", 6),
    text_column("status", "Status", 10),
    id_column("txId", "Transaction", 24, "tx_id"),
)

EMAILS: Final = (
    id_column("subUid", "Sub-account", 14, "sub_uid"),
    text_column("subaccountEmail", "E-mail", 32, "subaccount_email"),
    text_column("subaccountName", "Name", 32, "subaccount_name"),
    time_column("cTime", "Created", "c_time"),
    time_column("uTime", "Updated", "u_time"),
)
