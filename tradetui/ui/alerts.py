"""What rings the bell: a fill, a trigger, a link that is lost; once for whatever comes together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradetui.desk.feed import Feed

AT_MOST_EVERY_S = 5.0


class Alerts:
    """Tells when to ring. What was there at the first reading never rings, nor does a row that only changed place."""

    def __init__(self) -> None:
        self._newest: dict[str, str | None] = {}
        self._down = False
        self._rang_at: float | None = None

    def rings(self, feed: Feed, now: float) -> bool:
        """Whether this feed's news are worth a bell; one every few seconds is enough."""
        snapshot = feed.snapshot
        if feed.name not in ("fills", "triggers") or snapshot.read_at is None:
            return False
        newest = snapshot.keys[0] if snapshot.count else None
        known = self._newest.get(feed.name, newest)
        self._newest[feed.name] = newest
        if newest is None or newest == known:
            return False
        if self._rang_at is not None and now - self._rang_at < AT_MOST_EVERY_S:
            return False
        self._rang_at = now
        return True

    def link(self, down: bool) -> bool | None:
        """True when the link has just been lost, False when it has just come back, None when neither."""
        if down == self._down:
            return None
        self._down = down
        return down
