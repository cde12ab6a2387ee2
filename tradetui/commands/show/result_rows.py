"""Rows of results: round trips, times in a zone for a person and in UTC for a spreadsheet, figures without grouping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Context, Decimal
from typing import Final

from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.row_queries import Selection
from tradetui.desk.archive.trip_queries import TripOrigins, TripRow
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, SeenPrecisions
from tradetui.desk.tables.cells.figure_columns import money
from tradetui.desk.tables.cells.number_format import decimals, instant, number
from tradetui.trading.contract_math import exact_digits, exact_digits_if_known
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.text.counted import counted

TRIP_TIMES: Final = ("openTime", "closeTime")
_AMOUNTS: Final = ("gross", "fees", "funding", "net", "volume", "unexplained", "profitDifference", "netDifference")
_FILLS_LOOKED_AT: Final = 100
_PRICE: Final = Context(prec=12)
"""Significant digits of an average price, which is a quotient."""


def without_fee_or_profit(fill_count: int) -> str:
    """The sentence on fills that the exchange did not give completely."""
    return f"the exchange gave no fee or no profit for {counted(fill_count, 'fill')}"


def readable_time(at_ms: int | None, zone: tzinfo) -> str | None:
    """Day and time to the second; None for an unknown time (Unix ms)."""
    return None if at_ms is None else f"{utc_moment(at_ms).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def with_utc_names(columns: Sequence[str], times: Sequence[str]) -> tuple[str, ...]:
    """The columns, each of the times followed by one of the same name and `Utc`, as in exported tables."""
    return tuple(name for column in columns for name in ((column, f"{column}Utc") if column in times else (column,)))


def with_utc_times(row: Mapping[str, object], times: Sequence[str]) -> Mapping[str, object]:
    """The row, with every known time (Unix ms as text) in ISO 8601 UTC as well."""
    utc = {name: instant(utc_moment(int(str(row[name]))), UTC) for name in times if row[name] is not None}
    return {**row, **{f"{name}Utc": text for name, text in utc.items()}}


def with_rounded_money(row: Mapping[str, object]) -> Mapping[str, object]:
    coin = str(row["coin"])
    amounts = {name: amount for name in _AMOUNTS if (amount := row.get(name)) is not None}
    rounded = {name: money(Decimal(str(amount)), coin, DEFAULT_FORMAT) for name, amount in amounts.items()}
    return {**row, **{name: ungrouped(text) for name, text in rounded.items()}}


def ungrouped(figure: str) -> str:
    """A figure of the screen without marks between thousands, for other programs."""
    return figure.replace(",", "")


class TripRows:
    """Makes rows of the round trips of one archive that ended at a moment (`since`, Unix ms) or later."""

    def __init__(self, archive: Archive, since: int) -> None:
        self._archive = archive
        self._origins = TripOrigins(archive.connection, since)
        self._places: dict[str, int | None] = {}

    def as_json(self, row: TripRow) -> Mapping[str, object]:
        """Decimals as text, times in Unix ms."""
        return {name: figure(row, self._origins) for name, figure in _TRIP_FIGURES.items()}

    def as_text(self, row: TripRow, zone: tzinfo) -> Mapping[str, object]:
        """The same as on the screen: times in the zone, money rounded, prices with the symbol's decimals."""
        cells = dict(with_rounded_money(self.as_json(row)))
        cells |= {
            "openTime": readable_time(row.trip.opened_ms, zone),
            "closeTime": readable_time(row.trip.last_ms, zone),
        }
        places = self._price_places(row.symbol)
        for name, price in (("entry", row.trip.entry), ("exit", row.trip.exit)):
            if price is not None and places is not None:
                cells[name] = ungrouped(number(price, places=places))
        return cells

    def _price_places(self, symbol: str) -> int | None:
        """The most decimals of the prices in a symbol's newest fills, which are those of its contract."""
        if symbol not in self._places:
            precisions = SeenPrecisions()
            page = self._archive.rows.page(Selection(FuturesFill, symbol=symbol), None, _FILLS_LOOKED_AT)
            precisions.see((symbol, row.record.price, None) for _, row in page)
            precision = precisions.by_symbol.get(symbol)
            self._places[symbol] = None if precision is None else precision.price
        return self._places[symbol]


def _average_price(price: Decimal | None) -> str | None:
    if price is None:
        return None
    return exact_digits(price if decimals(price) == 0 else _PRICE.plus(price))


_TRIP_FIGURES: Final[Mapping[str, Callable[[TripRow, TripOrigins], object]]] = {
    "productType": lambda row, _: str(row.product_type),
    "symbol": lambda row, _: row.symbol,
    "side": lambda row, _: "long" if row.trip.long else "short",
    "openTime": lambda row, _: None if row.trip.opened_ms is None else str(row.trip.opened_ms),
    "closeTime": lambda row, _: str(row.trip.last_ms),
    "entry": lambda row, _: _average_price(row.trip.entry),
    "exit": lambda row, _: _average_price(row.trip.exit),
    "size": lambda row, _: exact_digits(row.trip.closed_size),
    "coin": lambda row, _: row.trip.coin,
    "gross": lambda row, _: exact_digits(row.trip.gross),
    "fees": lambda row, _: exact_digits(row.trip.fees),
    "funding": lambda row, _: exact_digits_if_known(row.funding),
    "net": lambda row, _: exact_digits(row.net),
    "openedBy": lambda row, origins: origins.of_opening(row),
    "closedBy": lambda row, origins: origins.of_closing(row),
    "startProven": lambda row, _: row.trip.start_proven,
    "endKnown": lambda row, _: row.trip.ended,
    "profitDifference": lambda row, _: exact_digits(row.trip.profit_difference),
    "netDifference": lambda row, _: exact_digits_if_known(row.net_difference),
    "complete": lambda row, _: not row.trip.incomplete_fills,
}
TRIP_FIELDS: Final = tuple(_TRIP_FIGURES)
