"""Settings of a desk: its panels, its intervals, and the actions it allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal

from tradetui.desk.tables.table import PANELS
from tradetui.wire.product_types import ProductType

DEFAULT_INTERVALS: Mapping[str, float] = {
    name: table.interval_s for name, table in PANELS.items() if table.interval_s is not None
}
"""Seconds between polls, by the panel's name."""


class Environment(StrEnum):
    """The environment of the account; LIVE unless another one is proven."""

    SANDBOX = "SANDBOX"
    DEMO = "DEMO"
    LIVE = "LIVE"


class Access(StrEnum):
    """The actions open to this session now; with a key of `KEY_READS_ONLY` the exchange accepts no order.

    `NO_STORE` means that the store shared with other machines is away or refuses this session: then nothing is sent.
    `VIEWER` means that the store lets this person only view the account.
    """

    TRADE = "TRADE"
    LOCKED = "LOCKED"
    VIEWER = "VIEWER"
    VIEWER_LOCKED = "VIEWER · LOCKED"
    NO_STORE = "NO STORE"
    MONITOR = "MONITOR"
    KEY_READS_ONLY = "KEY READS ONLY"
    UNIFIED = "MONITOR · UNIFIED"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings:
    """Settings of one running session; sizes in the base coin, values in the quote coin.

    `account_kind` is the profile's (ordinary, copy_trader, broker), None if it has none. `base_url`,
    `exchange_environment` (live or demo) and `key_stand_in` (a hash of the API key, for an exchange that reports no
    UID) identify the account. `proxy` and `ca_file` name, without a password, the proxy and the certificates on the way
    to the exchange; empty for none and the usual ones. Without a `data_dir` nothing outlives the session. `state_dir`
    has the user's registry of journals, `runtime_dir` the files by which processes show that they run. Days begin in
    `zone`.
    """

    name: str
    environment: Environment
    product_types: tuple[ProductType, ...]
    uid: str | None = None
    account_kind: str | None = None
    base_url: str = ""
    proxy: str = ""
    ca_file: str = ""
    exchange_environment: str = "live"
    key_stand_in: str = ""
    data_dir: Path | None = None
    state_dir: Path | None = None
    runtime_dir: Path | None = None
    read_only: bool = True
    start_locked: bool = False
    subaccount_rows: bool = True
    intervals: Mapping[str, float] = field(default_factory=lambda: DEFAULT_INTERVALS)
    max_reversal_size: Decimal | None = None
    max_reversal_value: Decimal | None = None
    symbols: frozenset[str] = frozenset()
    typed_above: Decimal | None = None
    zone: tzinfo = UTC
    trade_side: str = "Open"
    one_way_side: Literal["omit", "held", "order"] = "omit"

    def with_limits_of(self, other: DeskSettings) -> DeskSettings:
        return replace(
            self,
            read_only=self.read_only or other.read_only,
            max_reversal_size=other.max_reversal_size,
            max_reversal_value=other.max_reversal_value,
            symbols=other.symbols,
            typed_above=other.typed_above,
        )
