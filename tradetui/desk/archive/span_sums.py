"""Results of whole days and months, summed from quarter-hours once and then kept, however many fills they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import price_near
from tradetui.desk.archive.ledger.quarter_hours import FIGURES, ledger_figures, sums_of
from tradetui.storage.sqlite_file import transaction
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.trading.results.trips import ResultSums
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.product_types import USDT_COINS, ProductType, margin_coin

SPANS_A_STEP: Final = 32
"""Spans that are summed in one transaction, so that none holds up the disk for long."""
SPANS_A_READ: Final = 512
"""Spans that are in memory at a time."""
USDT: Final = "USDT"


class QuarterSpan(NamedTuple):
    """Quarter-hours of UTC, counted from 1970, from the first up to the one beyond the last."""

    first: int
    beyond: int


@dataclass(slots=True)
class GroupSums:
    """Results of a symbol in one coin; `funding_in_usd` is None where the coin had no price.

    Of the totals of a span `symbol` is empty and the coin the unit: USDT holds what coin-margined contracts brought
    in too, at the price of each fill, and `is_converted` says so.
    """

    product_type: str
    symbol: str
    coin: str
    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal = ZERO
    funding_in_usd: Decimal | None = ZERO
    is_converted: bool = False

    @property
    def is_own_coin(self) -> bool:
        """Whether the coin is the margin coin of a coin-margined contract, whose fills carry its price."""
        known_type = ProductType(self.product_type)
        return known_type.is_coin_margined and self.coin == margin_coin(known_type, self.symbol)

    def in_units(self) -> Iterator[GroupSums]:
        """The same in units: USDT, with what coin-margined contracts brought in at each fill's price, or the coin."""
        product_type, sums = self.product_type, self.sums
        if self.coin in USDT_COINS:
            yield GroupSums(product_type, "", USDT, sums, self.funding)
        elif not self.is_own_coin:
            yield GroupSums(product_type, "", self.coin, sums, self.funding)
        else:
            sums = replace(
                sums, gross=sums.gross_in_usd, fees=sums.fees_in_usd, won=sums.won_in_usd, lost=sums.lost_in_usd
            )
            yield GroupSums(product_type, "", USDT, sums, self.funding_in_usd or ZERO, is_converted=True)
            if self.funding_in_usd is None:
                yield GroupSums(product_type, "", self.coin, funding=self.funding)

    def add(self, other: GroupSums) -> None:
        self.sums.add(other.sums)
        self.funding += other.funding
        if self.funding_in_usd is not None:
            self.funding_in_usd = None if other.funding_in_usd is None else self.funding_in_usd + other.funding_in_usd
        self.is_converted = self.is_converted or other.is_converted


class SpanSums(NamedTuple):
    """The results of a span: by product type and unit, or where they were asked for by symbol and coin."""

    span: QuarterSpan
    groups: Sequence[GroupSums]


class _BothSums(NamedTuple):
    """The results of a span by unit, and by symbol and coin."""

    totals: Sequence[GroupSums]
    symbols: Sequence[GroupSums]


def span_sums(
    connection: sqlite3.Connection, spans: Sequence[QuarterSpan], keep_before: int, *, by_symbol: bool
) -> Iterator[SpanSums]:
    """The results of spans that follow each other, oldest first; those without any are left out.

    Sums of spans that end by the quarter-hour `keep_before` are kept. Blocks on the disk, and may write to it: it is
    not to be called within a transaction.
    """
    for start in range(0, len(spans), SPANS_A_READ):
        chunk = spans[start : start + SPANS_A_READ]
        rows = connection.execute(
            "SELECT first, beyond, groups FROM ledger_span WHERE by_symbol = ? AND first >= ? AND first < ?",
            (by_symbol, chunk[0].first, chunk[-1].beyond),
        )
        # The file has the days of a month beside the month, and those of other zones.
        kept_texts = {QuarterSpan(first, beyond): groups_text for first, beyond, groups_text in rows}
        groups_by_span = {span: _groups_of(kept_texts[span]) for span in chunk if span in kept_texts}
        missing = [span for span in chunk if span not in groups_by_span]
        for step in range(0, len(missing), SPANS_A_STEP):
            for span, both in _sum_and_keep(connection, missing[step : step + SPANS_A_STEP], keep_before).items():
                groups_by_span[span] = both.symbols if by_symbol else both.totals
        for span in chunk:
            if groups_by_span[span]:
                yield SpanSums(span, groups_by_span[span])


def _sum_and_keep(
    connection: sqlite3.Connection, spans: Sequence[QuarterSpan], keep_before: int
) -> Mapping[QuarterSpan, _BothSums]:
    """The sums of spans from the ledger. Those of spans that are over are kept, where the disk takes them."""
    if spans[0].beyond <= keep_before:
        with suppress(sqlite3.OperationalError), transaction(connection):
            made = {span: _summed(connection, span) for span in spans}
            for span, both in made.items():
                if span.beyond <= keep_before:
                    _keep(connection, span, both.totals, by_symbol=False)
                    _keep(connection, span, both.symbols, by_symbol=True)
            return made
    return {span: _summed(connection, span) for span in spans}


def _keep(connection: sqlite3.Connection, span: QuarterSpan, groups: Sequence[GroupSums], *, by_symbol: bool) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO ledger_span (by_symbol, first, beyond, groups) VALUES (?, ?, ?, ?)",
        (by_symbol, *span, dump_json([_as_json(group) for group in groups])),
    )


def _summed(connection: sqlite3.Connection, span: QuarterSpan) -> _BothSums:
    symbols: dict[tuple[str, str, str], GroupSums] = {}
    rows = connection.execute(
        f"SELECT product_type, symbol, coin, {FIGURES} FROM ledger_quarter WHERE quarter >= ? AND quarter < ?", span
    )
    for product_type, symbol, coin, *figures in rows:
        key = (product_type, symbol, coin)
        group = symbols.get(key)
        if group is None:
            symbols[key] = GroupSums(*key, sums_of(figures))
        else:
            group.sums.add(sums_of(figures))
    funding = connection.execute(
        "SELECT product_type, symbol, coin, quarter, amount FROM bill_funding WHERE quarter >= ? AND quarter < ?", span
    )
    for product_type, symbol, coin, quarter, amount_text in funding:
        key = (product_type, symbol, coin)
        group = symbols.setdefault(key, GroupSums(*key))
        amount = Decimal(amount_text)
        group.funding += amount
        if group.is_own_coin and group.funding_in_usd is not None:
            price = price_near(connection, product_type, coin, quarter * QUARTER_MS)
            group.funding_in_usd = None if price is None else group.funding_in_usd + amount * price
    return _BothSums(_totals(symbols.values()), list(symbols.values()))


def _totals(groups: Iterable[GroupSums]) -> list[GroupSums]:
    totals: dict[tuple[str, str], GroupSums] = {}
    for group in groups:
        for part in group.in_units():
            key = (part.product_type, part.coin)
            totals.setdefault(key, GroupSums(part.product_type, "", part.coin)).add(part)
    return list(totals.values())


def _as_json(group: GroupSums) -> list[object]:
    funding_in_usd = None if group.funding_in_usd is None else str(group.funding_in_usd)
    key = (group.product_type, group.symbol, group.coin)
    return [key, (str(group.funding), funding_in_usd, group.is_converted), ledger_figures(group.sums)]


@lru_cache(maxsize=1_024)
def _groups_of(groups_text: str) -> Sequence[GroupSums]:
    """The groups of a span as the file has them; nobody changes them, since the next reader gets the same."""
    return tuple(map(_group_of, load_json(groups_text)))


def _group_of(values: tuple[tuple[str, str, str], tuple[str, str | None, bool], Sequence[str | int]]) -> GroupSums:
    (product_type, symbol, coin), (funding, funding_in_usd, is_converted), figures = values
    in_usd = None if funding_in_usd is None else Decimal(funding_in_usd)
    return GroupSums(product_type, symbol, coin, sums_of(figures), Decimal(funding), in_usd, is_converted)
