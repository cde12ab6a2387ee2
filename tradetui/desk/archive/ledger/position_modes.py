"""Changes of a product type's position mode, by its fills: nothing can be held across a change."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable

from tradetui.desk.archive.ledger.fill_sequence import Instant, SequencedFill
from tradetui.wire.product_types import ProductType


class PositionModes:
    """Keeps over the archive's connection from which fill on each mode was in force."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._runs: dict[ProductType, list[tuple[Instant, str]]] = {}

    def forget(self) -> None:
        self._runs.clear()

    def changed(self, product_type: ProductType, after: Instant, until: Instant) -> bool:
        """Whether the position mode changed after one instant and not after another."""
        runs = self._known(product_type)
        latest = bisect_right(runs, (until, "\uffff")) - 1
        return latest > 0 and runs[latest][0] > after

    def unexpected(self, fills: Iterable[SequencedFill]) -> set[ProductType]:
        """The product types of fills that show a change of mode that is not known yet."""
        product_types = set()
        for instant, fill in fills:
            mode = fill.meaning.mode
            if mode is None:
                continue
            runs = self._known(fill.key.product_type)
            index = bisect_right(runs, (instant, "\uffff")) - 1
            if index < 0 and runs and runs[0][1] == mode:
                runs[0] = (instant, mode)  # how far back the oldest mode reaches changes nothing
            elif index < 0 or runs[index][1] != mode:
                product_types.add(fill.key.product_type)
        return product_types

    def find(self, product_type: ProductType) -> Instant | None:
        """Find anew where the mode changed between two fills; gives the first place where that is not as it was."""
        rows = self._connection.execute(
            "SELECT time, ordinal, mode FROM (SELECT time, ordinal, lower(json_extract(body, '$.posMode')) AS mode,"
            " lag(lower(json_extract(body, '$.posMode'))) OVER (ORDER BY time, ordinal) AS before FROM record"
            " WHERE kind = 'fill' AND product_type = ?"
            " AND lower(json_extract(body, '$.posMode')) IN ('hedge_mode', 'one_way_mode'))"
            " WHERE mode IS NOT before ORDER BY time, ordinal",
            (product_type,),
        ).fetchall()
        runs = [(Instant(time, ordinal), str(mode)) for time, ordinal, mode in rows]
        known = self._known(product_type)
        changes, known_changes = set(runs[1:]), set(known[1:])
        self._runs[product_type] = runs
        self._connection.execute("DELETE FROM ledger_mode WHERE product_type = ?", (product_type,))
        self._connection.executemany(
            "INSERT INTO ledger_mode VALUES (?, ?, ?, ?)",
            [(str(product_type), *instant, mode) for instant, mode in runs],
        )
        return min((instant for instant, _ in changes ^ known_changes), default=None)

    def _known(self, product_type: ProductType) -> list[tuple[Instant, str]]:
        runs = self._runs.get(product_type)
        if runs is None:
            rows = self._connection.execute(
                "SELECT time, ordinal, mode FROM ledger_mode WHERE product_type = ? ORDER BY time, ordinal",
                (product_type,),
            )
            runs = self._runs[product_type] = [(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        return runs
