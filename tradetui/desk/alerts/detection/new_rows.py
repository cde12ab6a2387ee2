"""Which rows of a feed are new since the session began: what was there before is no news."""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile
from typing import Final, Generic

from tradetui.desk.feeds.polling.snapshot import Snapshot
from tradetui.desk.tables.rows.product_row import BEGINNING, ProductRow, RecordT, time_of
from tradetui.wire.unix_time import utc_moment

LATE: Final = timedelta(minutes=5)
"""How much older than the newest row one may be that comes after it: product types are read at moments of their own."""
_JUST_BEFORE: Final = timedelta(seconds=10)
"""What happened so shortly before the first read may appear only after it."""


class NewRows(Generic[RecordT]):
    """Compares each snapshot with the one before; its rows are the newest first."""

    def __init__(self, *, a_change_is_new: bool) -> None:
        """`a_change_is_new`: whether a row that comes again with other figures is another event."""
        self._a_change_is_new = a_change_is_new
        self._before: Snapshot[ProductRow[RecordT]] | None = None
        self._since = BEGINNING

    def of(self, snapshot: Snapshot[ProductRow[RecordT]], now_ms: int) -> list[ProductRow[RecordT]]:
        """New and changed rows, oldest first; none at the first read that brings anything.

        Older pages of the history, which are read later, are not new either. `now_ms` is the exchange's time as well
        as it is known.
        """
        if snapshot.read_at is None and not snapshot.rows:
            return []
        before, self._before = self._before, snapshot
        if before is None:
            self._since = utc_moment(snapshot.server_ms or now_ms) - _JUST_BEFORE
            return []
        if snapshot.generation == before.generation or not snapshot.rows:
            return []
        oldest = max(self._since, time_of(snapshot.rows[0].record) - LATE)
        recent = takewhile(lambda row: time_of(row.record) >= oldest, snapshot.rows)
        return [row for row in recent if self._is_new(row, before)][::-1]

    def _is_new(self, row: ProductRow[RecordT], before: Snapshot[ProductRow[RecordT]]) -> bool:
        index = before.index_of(row.key)
        return index is None or (self._a_change_is_new and before.row(index) != row)
