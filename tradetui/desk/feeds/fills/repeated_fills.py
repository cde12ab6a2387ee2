"""Fills that come again from the other interface after an account was moved between classic and unified mode.

It is not known whether interface v3 gives a fill the id that v2 gave it. So two fills of different interfaces are the
same if their ids are, or else symbol, time, price and size; of several equal fills each is paired with one other. The
one that came first counts, as it came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.wire.models.futures import FuturesFill


def without_repeated_fills(
    rows: Sequence[ProductRow[FuturesFill]], counted: Iterable[ProductRow[FuturesFill]]
) -> list[ProductRow[FuturesFill]]:
    """Return the rows without those of which `counted` has the same fill from the other interface.

    A fill that comes again without its fee, because the fee's sign is not known this time, is left out too.
    """
    known = {row.row_id: row for row in counted}
    if not any(row.record.is_converted for row in chain(rows, known.values())):
        return list(rows)  # the account was never moved
    by_figures: defaultdict[tuple[object, ...], dict[str, None]] = defaultdict(dict)
    for row in known.values():
        by_figures[_figures(row, of_v3=row.record.is_converted)][row.row_id] = None
    unknown = [row for row in rows if row.row_id not in known]
    repeated = {row.row_id for row in rows if row.row_id in known and _repeats(row, known[row.row_id])}
    for row_id in repeated:
        by_figures[_figures(known[row_id], of_v3=known[row_id].record.is_converted)].pop(row_id, None)
    for row in unknown:
        if row.row_id not in repeated and (others := by_figures[_figures(row, of_v3=not row.record.is_converted)]):
            others.popitem()
            repeated.add(row.row_id)
    return [row for row in rows if row.row_id not in repeated]


def _repeats(row: ProductRow[FuturesFill], known: ProductRow[FuturesFill]) -> bool:
    if row.record.is_converted is not known.record.is_converted:
        return True
    has_fee, had_fee = (any(fee.total_fee is not None for fee in fill.record.fee_detail) for fill in (row, known))
    return row.record.is_converted and row.original == known.original and had_fee and not has_fee


def _figures(row: ProductRow[FuturesFill], *, of_v3: bool) -> tuple[object, ...]:
    fill = row.record
    return of_v3, fill.symbol.upper(), fill.c_time, fill.price, fill.base_volume
