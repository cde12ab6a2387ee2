"""The table of the positions: its columns, their totals, and the line below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.cell_format import CONVERTED, UNKNOWN, CellFormat, number, percent_points
from tradetui.desk.tables.cells.column import (
    Column,
    Footer,
    TableView,
    Tone,
    TotalTexts,
    by_sign,
    money,
    money_column,
    percent_column,
    price,
    price_column,
    ranked,
    size_column,
    text_column,
    time_column,
    tone_of,
)
from tradetui.desk.tables.columns.shared_columns import PRODUCT
from tradetui.trading.contract_math import known_sum
from tradetui.trading.position_figures import (
    exposure_of,
    in_dollars,
    next_funding_payment,
    return_on_margin,
    signed_liquidation_distance,
    value_of,
)
from tradetui.trading.positions import StopState
from tradetui.wire.product_types import margin_coin

if TYPE_CHECKING:
    from tradetui.trading.positions import Position

LIQUIDATION_NEAR: Final = Decimal("0.05")
NO_LIQUIDATION: Final = "none"
_DOLLARS: Final = "USDT"
_STOP_TEXTS: Final[Mapping[StopState, str]] = {
    StopState.NOT_READ: UNKNOWN,
    StopState.UNREADABLE: "?",
    StopState.NONE: "no stop",
    StopState.TRAILING: "trailing",
}


def _symbol(position: Position) -> str:
    return position.symbol


def _leg_tone(position: Position) -> Tone:
    if position.is_long is None:
        return Tone.WARN
    return Tone.LONG if position.is_long else Tone.SHORT


def _source_tone(position: Position) -> Tone:
    return Tone.PLAIN if position.source.proven else Tone.WARN


def _profit_column(
    id_: str, title: str, amount: Callable[[Position], Decimal | None], dollars: Callable[[Position], Decimal | None]
) -> Column[Position]:
    """Make a column of profits as received, shown and sorted by their value in dollars.

    A profit in another coin is marked as converted at the mark. If no mark is known, or figures are exact, it is shown
    in its coin.
    """

    def shown(position: Position, cell_format: CellFormat) -> str:
        in_coin = position.product_type.is_coin_margined
        if in_coin and (cell_format.exact or dollars(position) is None):
            coin = position.margin_coin or margin_coin(position.product_type, position.symbol)
            text = money(amount(position), coin, cell_format, signed=True)
            return text if text == UNKNOWN else f"{text} {coin or 'of its coin'}"
        text = money(dollars(position), _DOLLARS, cell_format, signed=True)
        return f"{CONVERTED}{text}" if in_coin else text

    tone = by_sign(amount)
    return Column(id_, title, 10, amount, shown, right=True, tone=tone, unit="margin coin", order=dollars)


def _unrealised_dollars(position: Position) -> Decimal | None:
    return in_dollars(position, position.unrealised)


def _stop_order(position: Position) -> Decimal | str | None:
    """Sort by stop price, then trailing stops; positions without a known stop last."""
    market = position.market
    if market.stop is None and market.stop_state is StopState.TRAILING:
        return _STOP_TEXTS[StopState.TRAILING]
    return market.stop


def _stop_text(position: Position, cell_format: CellFormat) -> str:
    market = position.market
    is_priced = market.stop is not None
    text = price(market.stop, position.symbol, cell_format) if is_priced else _STOP_TEXTS[market.stop_state]
    return text if market.stop_part is None else f"{_stop_part(market.stop_part)} {text}"


def _stop_part(part: Decimal) -> str:
    return f"{int(part * 100) or '<1'} %"


def _short_stop(position: Position, _: CellFormat) -> str:
    """Write whether there is a stop, or for which part, if its price does not fit."""
    market = position.market
    if market.stop_part is not None:
        return _stop_part(market.stop_part)
    return "no" if market.stop is None and market.stop_state is StopState.NONE else "set"


def _stop_tone(position: Position) -> Tone:
    market = position.market
    is_missing = market.stop is None and market.stop_state in (StopState.NONE, StopState.UNREADABLE)
    return Tone.WARN if is_missing or market.stop_part is not None else Tone.PLAIN


def _liquidation_text(position: Position, cell_format: CellFormat) -> str:
    if position.has_no_liquidation:
        return NO_LIQUIDATION
    return price(position.liquidation, position.symbol, cell_format)


def _distance_text(position: Position, cell_format: CellFormat) -> str:
    if position.has_no_liquidation:
        return NO_LIQUIDATION
    return percent_points(signed_liquidation_distance(position), signed=True, exact=cell_format.exact)


def _leverage_text(position: Position, _: CellFormat) -> str:
    return UNKNOWN if position.leverage is None else f"{number(position.leverage)}×"


def _distance_tone(distance: Decimal) -> Tone:
    return Tone.WARN if abs(distance) < LIQUIDATION_NEAR else Tone.PLAIN


def _break_even(position: Position) -> Decimal | None:
    return None if position.record is None else position.record.break_even_price


SUMMED_SINCE: Final[Column[Position]] = time_column("since", "Fills since", lambda position: position.summed_since)
"""The time from which fills were summed to a position."""
_RANKED: Final[tuple[Column[Position], ...]] = ranked(
    text_column("symbol", "Symbol", 8, lambda row: row.symbol),
    Column("leg", "Side", 5, lambda row: row.shown_leg, lambda row, _: row.shown_leg.upper(), tone=_leg_tone),
    size_column("size", "Size", 7, lambda row: row.size, _symbol),
    price_column("entry", "Entry", 8, lambda row: row.entry, _symbol, derived=True),
    price_column("mark", "Mark", 8, lambda row: row.mark, _symbol),
    _profit_column("unrealised", "Unrealised", lambda row: row.unrealised, _unrealised_dollars),
    percent_column("roi", "ROI %", 7, return_on_margin, signed=True, tone=tone_of, unit="of the margin it takes"),
    money_column("value", "Value", 10, value_of, lambda _: _DOLLARS, unit="USDT"),
    price_column("liquidationPrice", "Liq.price", 9, lambda row: row.liquidation, _symbol)._replace(
        text=_liquidation_text
    ),
    percent_column(
        "liquidation",
        "Away %",
        7,
        signed_liquidation_distance,
        signed=True,
        tone=_distance_tone,
        order=lambda row: row.liquidation_distance,
        unit="from the mark to liquidation",
    )._replace(text=_distance_text),
    price_column("stop", "Stop", 8, lambda row: row.market.stop, _symbol)._replace(
        text=_stop_text, tone=_stop_tone, order=_stop_order, short=_short_stop
    ),
    money_column("funding", "Funding", 7, next_funding_payment, lambda _: _DOLLARS, profit=True, unit="USDT"),
    price_column("breakEvenPrice", "Break-even", 10, _break_even, _symbol, derived=True),
    price_column("takeProfit", "Take-profit", 11, lambda row: row.take_profit, _symbol),
    Column("leverage", "Lev", 4, lambda row: row.leverage, _leverage_text, right=True),
    _profit_column("realised", "Realised", lambda row: row.realised, lambda row: in_dollars(row, row.realised)),
    text_column("marginMode", "Margin", 8, lambda row: row.margin_mode),
    PRODUCT,
    text_column("source", "Source", 11, lambda row: str(row.source), _source_tone),
    kept_longest="symbol,leg,unrealised,size,liquidation,mark,roi,entry,stop,liquidationPrice,value,funding"
    ",breakEvenPrice,takeProfit,leverage,realised,marginMode,productType,source",
)
_MOSTLY_EQUAL: Final = frozenset({"marginMode", "source"})
POSITION_COLUMNS: Final = tuple(column for column in _RANKED if column.id not in _MOSTLY_EQUAL)
MOSTLY_EQUAL_COLUMNS: Final = tuple(column for column in _RANKED if column.id in _MOSTLY_EQUAL)
"""Columns shown by default only if rows differ in them; else the note gives the common value."""


def position_columns(rows: Iterable[Position]) -> tuple[Column[Position], ...]:
    """Return the columns of these positions; a mostly equal column is included if its values differ or warn."""
    positions = list(rows)
    common_ids = {
        column.id for column in MOSTLY_EQUAL_COLUMNS if not positions or _equal_text(column, positions) is not None
    }
    return tuple(column for column in _RANKED if column.id not in common_ids)


def _equal_text(column: Column[Position], positions: Sequence[Position]) -> str | None:
    """Return the common text of a column; None if the texts differ or one warns."""
    values = {column.value(position) for position in positions}
    if len(values) != 1 or any(column.tone is not None and column.tone(row) is Tone.WARN for row in positions):
        return None
    return str(values.pop() or "") or None


def positions_footer(rows: Iterable[Position], cell_format: CellFormat) -> Footer:
    """Return totals and note; if the stop column is hidden, the note counts the positions without a stop."""
    positions = list(rows)
    note = _note(positions, cell_format)
    whole_note = " · ".join(filter(None, (without_stop_text(positions), note)))
    return Footer(_totals(positions, cell_format), whole_note, note, frozenset({"stop"}))


def positions_headline(rows: Iterable[Position], cell_format: CellFormat) -> str:
    """Return the worst unrealised result in dollars, and how many positions have no stop."""
    positions = list(rows)
    return " · ".join(filter(None, (worst_position(positions, cell_format), without_stop_text(positions))))


def _totals(positions: Sequence[Position], cell_format: CellFormat) -> TotalTexts:
    unrealised = known_sum(map(_unrealised_dollars, positions))
    funding = known_sum(map(next_funding_payment, positions))
    without_stop = _without_stop(positions)
    totals = {
        "symbol": (f"{len(positions):,}", Tone.PLAIN),
        "unrealised": (_total(unrealised, positions, cell_format), tone_of(unrealised)),
        "value": (money(known_sum(map(value_of, positions)), _DOLLARS, cell_format), Tone.PLAIN),
        "funding": (money(funding, _DOLLARS, cell_format, signed=True), tone_of(funding)),
    }
    if without_stop:
        totals["stop"] = (f"{without_stop} without", Tone.WARN)
    return totals


def without_stop_text(positions: Iterable[Position]) -> str:
    """Count the positions without a stop, `2 without stop`; empty if all have one."""
    count = _without_stop(positions)
    return f"{count} without stop" if count else ""


def _without_stop(positions: Iterable[Position]) -> int:
    return sum(position.market.stop_state is StopState.NONE for position in positions)


def worst_position(positions: Iterable[Position], cell_format: CellFormat) -> str:
    """Name the position with the lowest unrealised result in dollars, and the result; `?` if not all are known."""
    results = [(_unrealised_dollars(position), position) for position in positions]
    known = [(result, position) for result, position in results if result is not None]
    if not known:
        return ""
    result, position = min(known, key=lambda entry: entry[0])
    doubt = "?" if len(known) < len(results) else ""
    return f"worst {position.symbol} {position.shown_leg.upper()} {_total(result, [position], cell_format)}{doubt}"


def _note(positions: Sequence[Position], cell_format: CellFormat) -> str:
    """Write the worst of several, the exposure, the time of the next funding, and the positions' common values."""
    if not positions:
        return ""
    exposure = exposure_of(positions)
    doubt = "?" if exposure.unknown else ""
    parts = [
        worst_position(positions, cell_format) if len(positions) > 1 else "",
        f"long {number(exposure.long, places=0)}{doubt}",
        f"short {number(exposure.short, places=0)}{doubt}",
        f"net {number(exposure.net, signed=True, places=0)}{doubt} USDT",
    ]
    funding_times = {row.market.next_funding for row in positions if row.market.next_funding is not None}
    if funding_times:
        parts.append(f"next funding {min(funding_times).astimezone(cell_format.zone):%H:%M}")
    if any(position.product_type.is_coin_margined for position in positions):
        parts.append(f"{CONVERTED} coin-margined, in USDT at the mark")
    equal_texts = {column.id: _equal_text(column, positions) for column in MOSTLY_EQUAL_COLUMNS}
    parts += [text for column_id, text in equal_texts.items() if text and (column_id, text) != ("source", "reported")]
    return " · ".join(filter(None, parts))


def _total(amount: Decimal | None, positions: Sequence[Position], cell_format: CellFormat) -> str:
    text = money(amount, _DOLLARS, cell_format, signed=True)
    is_converted = amount is not None and any(position.product_type.is_coin_margined for position in positions)
    return f"{CONVERTED}{text}" if is_converted else text


POSITIONS_VIEW: Final[TableView[Position]] = TableView(
    POSITION_COLUMNS,
    position_columns,
    more_columns=(*MOSTLY_EQUAL_COLUMNS, SUMMED_SINCE),
    footer=positions_footer,
    headline=positions_headline,
)
