"""Equity samples, one a minute and fewer with age, and the coins' USDT rates."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.product_types import USDT_COINS, ProductType

PEGGED: Final = frozenset({"USDC", "SUSDC"})
"""Coins converted at the rate of the newest equity sample, or at par before the first."""
SAMPLED_EVERY_MS: Final = 60_000
"""The time between samples. A sample's key in the archive counts minutes, so another value needs another version."""
THINNED_EVERY_MS: Final = 3_600_000
_KEPT: Final = ((90 * DAY_MS, None, DAY_MS), (7 * DAY_MS, 90 * DAY_MS, THINNED_EVERY_MS))
"""Ages between which one sample is kept a day, or an hour; younger samples are a minute apart."""


class CoinEquity(NamedTuple):
    """The account of one margin coin: equity in the coin, in USDT at the exchange's rate, and unrealised profit."""

    coin: str
    equity: Decimal
    in_usdt: Decimal | None
    unrealised: Decimal | None

    @property
    def rate(self) -> Decimal | None:
        """The coin's USDT rate, `usdtEquity ÷ accountEquity`; None if it cannot be computed."""
        return self.in_usdt / self.equity if self.in_usdt is not None and self.equity > 0 else None


class EquitySample(NamedTuple):
    """Total equity and unrealised profit of some product types' accounts, in USDT, at a time in Unix ms.

    `accounts` are the accounts by coin; old samples have none. The equity of a unified account is of all its coins, and
    is never compared with that of the classic account it was before.
    """

    time: int
    equity: Decimal
    unrealised: Decimal | None
    accounts: tuple[CoinEquity, ...] = ()
    is_unified: bool = False


@dataclass(frozen=True, slots=True)
class Rates:
    """The USDT rates by coin, from the newest equity sample."""

    by_coin: Mapping[str, Decimal]

    @classmethod
    def of(cls, sample: EquitySample | None) -> Rates:
        """Make the known rates of a sample's accounts."""
        accounts = () if sample is None else sample.accounts
        return cls({account.coin: rate for account in accounts if (rate := account.rate) is not None})

    def of_coin(self, coin: str) -> Decimal | None:
        """Return the coin's USDT rate now; None if it is not known."""
        return Decimal(1) if coin in USDT_COINS else self.by_coin.get(coin)

    def in_usdt(self, amounts: Mapping[str, Decimal]) -> Decimal | None:
        """Return the sum of amounts by coin in USDT; None if a coin's rate is not known."""
        total = Decimal(0)
        for coin, amount in amounts.items():
            if amount:  # a zero with many decimals would give the total many decimals
                if (rate := self.of_coin(coin)) is None:
                    return None
                total += amount * rate
        return total

    def of_dollar(self, coin: str) -> Decimal | None:
        """Return a dollar coin's USDT rate; None for other coins, whose rate may have changed since."""
        if coin in PEGGED:
            return self.by_coin.get(coin, Decimal(1))
        return Decimal(1) if coin in USDT_COINS else None


def add_sample(connection: sqlite3.Connection, product_types: Sequence[ProductType], sample: EquitySample) -> None:
    """Archive a sample unless its minute has one; two sessions of one account may both sample it."""
    connection.execute(
        "INSERT OR IGNORE INTO equity_sample VALUES (?, ?, ?, ?, ?, ?)",
        (
            sample.time // SAMPLED_EVERY_MS,
            _scope(product_types, is_unified=sample.is_unified),
            sample.time,
            str(sample.equity),
            None if sample.unrealised is None else str(sample.unrealised),
            dump_json([[None if field is None else str(field) for field in account] for account in sample.accounts]),
        ),
    )


def thin_samples(connection: sqlite3.Connection, now_ms: int) -> None:
    """Delete all but the last sample of each hour after a week, and of each UTC day after 90 days."""
    for youngest, oldest, step in _KEPT:
        first = 0 if oldest is None else (now_ms - oldest) // step * step // SAMPLED_EVERY_MS
        last = (now_ms - youngest) // step * step // SAMPLED_EVERY_MS
        connection.execute(
            "DELETE FROM equity_sample WHERE minute >= ? AND minute < ? AND (minute, product_types) NOT IN"
            " (SELECT max(minute), product_types FROM equity_sample WHERE minute >= ? AND minute < ?"
            " GROUP BY product_types, minute / ?)",
            (first, last, first, last, step // SAMPLED_EVERY_MS),
        )


def samples(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], since: int, until: int
) -> Iterator[EquitySample]:
    """Yield the samples of a period (Unix ms, both included), oldest first, without accounts."""
    rows = connection.execute(
        "SELECT time, equity, unrealised FROM equity_sample WHERE minute BETWEEN ? AND ? AND product_types = ?"
        " AND time BETWEEN ? AND ? ORDER BY minute",
        (since // SAMPLED_EVERY_MS, until // SAMPLED_EVERY_MS, _newest_scope(connection, product_types), since, until),
    )
    for time, equity, unrealised in rows:
        yield EquitySample(time, Decimal(equity), _decimal(unrealised))


def nearest_sample(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], moment_ms: int, within_ms: int
) -> EquitySample | None:
    """Return the sample nearest to a time (Unix ms) and at most `within_ms` from it, with its accounts."""
    since, until = moment_ms - within_ms, moment_ms + within_ms
    minutes = since // SAMPLED_EVERY_MS, until // SAMPLED_EVERY_MS
    which = "minute BETWEEN ? AND ? AND time BETWEEN ? AND ? ORDER BY abs(time - ?)"
    return _one_sample(connection, product_types, which, *minutes, since, until, moment_ms)


def first_sample(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], since: int = 0
) -> EquitySample | None:
    """Return the oldest sample since a time (Unix ms, to the minute), with its accounts."""
    return _one_sample(connection, product_types, "minute >= ? ORDER BY minute ASC", since // SAMPLED_EVERY_MS)


def last_sample(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], until: int
) -> EquitySample | None:
    """Return the newest sample up to a time (Unix ms), with its accounts."""
    return _one_sample(connection, product_types, "time <= ? ORDER BY minute DESC", until)


def _one_sample(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], which: str, *values: int
) -> EquitySample | None:
    scope = _newest_scope(connection, product_types)
    select = "SELECT time, equity, unrealised, accounts FROM equity_sample WHERE product_types = ? AND"
    row = connection.execute(f"{select} {which} LIMIT 1", (scope, *values)).fetchone()
    is_unified = scope == _scope(product_types, is_unified=True)
    return None if row is None else _sample_of(row)._replace(is_unified=is_unified)


class SampledEquity(NamedTuple):
    """Samples of a period, oldest first: Unix ms, and equity as the file stores it.

    `values` are the same as floats, negative ones as zero, because an account cannot lose more than all.
    """

    times: Sequence[int]
    equities: Sequence[str]
    values: Sequence[float]


class EquitySeries:
    """The samples of some product types' accounts, without single accounts, kept in memory.

    They are read once, and then only new ones. All are read again if another session has written to the file, or in a
    new hour, when samples are thinned.
    """

    def __init__(self, connection: sqlite3.Connection, product_types: Sequence[ProductType]) -> None:
        self._connection = connection
        self._product_types = product_types
        self._times: list[int] = []
        self._equities: list[str] = []
        self._values: list[float] = []
        self._read_at: tuple[int, int, str] | None = None

    def read(self, since: int, until: int) -> SampledEquity:
        """Return the samples of a period (Unix ms, both included) after reading new ones."""
        self._bring_forward()
        chosen = slice(bisect_left(self._times, since), bisect_right(self._times, until))
        return SampledEquity(self._times[chosen], self._equities[chosen], self._values[chosen])

    def _bring_forward(self) -> None:
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        scope = _newest_scope(self._connection, self._product_types)
        newest = self._connection.execute(
            "SELECT minute FROM equity_sample WHERE product_types = ? ORDER BY minute DESC LIMIT 1", (scope,)
        ).fetchone()
        read_at = (version, 0 if newest is None else newest[0] * SAMPLED_EVERY_MS // THINNED_EVERY_MS, scope)
        if read_at != self._read_at:
            self._times, self._equities, self._values = [], [], []
            self._read_at = read_at
        rows = self._connection.execute(
            "SELECT time, equity FROM equity_sample WHERE product_types = ? AND minute > ? ORDER BY minute",
            (scope, self._times[-1] // SAMPLED_EVERY_MS if self._times else -1),
        )
        for time, equity in rows:
            self._times.append(time)
            self._equities.append(equity)
            self._values.append(max(float(equity), 0.0))


def spacing_at(age_ms: int) -> int:
    """Return the spacing (ms) of samples of this age."""
    for youngest, _, spacing_ms in _KEPT:
        if age_ms > youngest:
            return spacing_ms
    return SAMPLED_EVERY_MS


def _sample_of(row: tuple[int, str, str | None, str | None]) -> EquitySample:
    time, equity, unrealised, accounts_text = row
    accounts = tuple(
        CoinEquity(coin, Decimal(coin_equity), _decimal(in_usdt), _decimal(coin_unrealised))
        for coin, coin_equity, in_usdt, coin_unrealised in load_json(accounts_text or "[]")
    )
    return EquitySample(time, Decimal(equity), _decimal(unrealised), accounts)


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _scope(product_types: Sequence[ProductType], *, is_unified: bool = False) -> str:
    return ",".join([*sorted(product_types), *(["unified"] if is_unified else [])])


def _newest_scope(connection: sqlite3.Connection, product_types: Sequence[ProductType]) -> str:
    """Return whether the newest sample is of a unified account, as the name under which it is kept."""
    scopes = _scope(product_types), _scope(product_types, is_unified=True)
    newest = connection.execute(
        "SELECT product_types FROM equity_sample WHERE product_types IN (?, ?) ORDER BY minute DESC, time DESC LIMIT 1",
        scopes,
    ).fetchone()
    return scopes[0] if newest is None else str(newest[0])
