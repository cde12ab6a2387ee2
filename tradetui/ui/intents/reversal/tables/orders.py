"""The table of orders and stops in the reversal dialog: how far away each is, and what becomes of it afterwards."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import ChangedFact
from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.trading.contract_math import ZERO
from tradetui.trading.orders_after_reversal import OrderImpact, RestingKind
from tradetui.ui.intents.reversal.tables.table_rows import CHANGED, Figures, Marks, Room, per_cent
from tradetui.wire.text import scrub

KIND_WIDTH: Final = 14
_ACTION, _AWAY = 36, 8
_GAP: Final = 3
_LEAST_ACTION: Final = 22
_NEW: Final = " ◂ new"
_LEAST_RUN: Final = 2  # of more similar neighbours than this, only the nearest and the furthest are listed


def orders_table(
    resting: Sequence[OrderImpact], figures: Figures, mark_price: Decimal | None, marks: Marks, room: Room
) -> Iterator[Content]:
    """A row for each order that the reversal touches, with two for many alike and one for those that stay as they are.

    Orders come before stops, those next to the mark price first.
    """
    if not resting:
        return
    resting = sorted(resting, key=lambda order: (order.kind is not RestingKind.ORDER, _distance(order, mark_price)))
    shown = _listed(resting, marks, room.most_orders)
    actions = {order.order_id: _action(order, figures) for order in shown}
    longest = max(map(len, actions.values()), default=0)
    widest = _ACTION if room.is_wide else room.width - KIND_WIDTH - _AWAY - 1
    width = max(_LEAST_ACTION, min(widest, longest + 1))
    title = f"{'Orders, stops':<{KIND_WIDTH + width}}{'away':>{_AWAY}}"
    yield Content.styled(f"{title}{' ' * _GAP}{'afterwards' if room.is_wide else ''}".rstrip(), "$quiet")
    for alike in _runs(shown, marks, room.most_orders):
        for order in alike if len(alike) <= _LEAST_RUN else alike[:1]:
            yield from _row(order, actions[order.order_id], width, mark_price, marks, room)
        if len(alike) > _LEAST_RUN:
            furthest = f", the furthest {_at(alike[-1], figures)}"
            style = "bold $warn" if alike[0].wrong_way else "$quiet"
            yield Content.styled(f"{' ' * KIND_WIDTH}{len(alike) - 1} more like it{furthest}", style)
    if left_out := len(resting) - len(shown):
        yield Content.styled(f"{left_out} more {'stays as it is' if left_out == 1 else 'stay as they are'}", "$quiet")


def _listed(resting: Sequence[OrderImpact], marks: Marks, most: int) -> Sequence[OrderImpact]:
    if len(resting) <= most:
        return resting
    touched = [order for order in resting if order.wrong_way or order.assumed or _is_new(order, marks)]
    touched_ids = {order.order_id for order in touched}
    others = [order for order in resting if order.order_id not in touched_ids]
    chosen = touched_ids | {order.order_id for order in others[: max(0, most - 1 - len(touched))]}
    return [order for order in resting if order.order_id in chosen]


def _runs(shown: Sequence[OrderImpact], marks: Marks, most: int) -> Iterator[Sequence[OrderImpact]]:
    """Groups of neighbours that differ only in price; a new one is alone, and all are if few are shown."""

    def likeness(order: OrderImpact) -> tuple[object, ...]:
        is_alone = len(shown) <= most or _is_new(order, marks)
        own_id = order.order_id if is_alone else ""
        return order.kind, order.action, order.effect, order.wrong_way, order.done, own_id

    for _, alike in itertools.groupby(shown, likeness):
        yield list(alike)


def _row(
    order: OrderImpact, action: str, width: int, mark_price: Decimal | None, marks: Marks, room: Room
) -> Iterator[Content]:
    away = UNKNOWN
    if order.price is not None and mark_price:
        away = per_cent((order.price - mark_price) / mark_price, signed=True)
    style = "bold $warn" if order.wrong_way else ""
    effect = f"{scrub(order.effect)}{'  !' if order.wrong_way else ''}"
    head = (f"{order.kind:<{KIND_WIDTH}}", style or "$quiet")
    middle = (f"{scrub(action):<{width}}{away:>{_AWAY}}", style)
    changed = [(_NEW, CHANGED)] if _is_new(order, marks) else []
    one_line = KIND_WIDTH + max(width, len(action)) + _AWAY + _GAP + len(effect) + (len(_NEW) if changed else 0)
    if room.is_wide and one_line <= room.width:
        yield Content.assemble(head, middle, (f"{' ' * _GAP}{effect}", style), *changed)
        return
    yield Content.assemble(head, middle, *changed)
    for part in textwrap.wrap(effect, max(_LEAST_ACTION, room.width - KIND_WIDTH)):
        yield Content.assemble((f"{' ' * KIND_WIDTH}{part}", style))


def _distance(order: OrderImpact, mark_price: Decimal | None) -> Decimal:
    return ZERO if order.price is None or mark_price is None else abs(order.price - mark_price)


def _is_new(order: OrderImpact, marks: Marks) -> bool:
    return marks.before(ChangedFact.NEW_ORDER, order.order_id) is not None


def _at(order: OrderImpact, figures: Figures) -> str:
    return f"at {figures.price(order.price)}" if order.price is not None else "at the market"


def _action(order: OrderImpact, figures: Figures) -> str:
    done = f", {per_cent(order.done, places=0)} done" if order.done else ""
    return f"{order.action} {_at(order, figures)}{done}"
