"""What calls its listeners: a feed, a lookup, the alerts, the searches for outcomes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVarTuple

_log = logging.getLogger(__name__)

News = TypeVarTuple("News")


class Publisher(Generic[*News]):
    """Calls its listeners whenever there is news; one that fails ends neither the others nor what it listens to."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[*News], object]] = []

    def subscribe(self, listener: Callable[[*News], object]) -> Callable[[], None]:
        """Call the listener with all news from now on; return a function that unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self, *news: *News) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(*news)
            except Exception:
                # A failing screen must not end a feed: the panel would stand still for the rest of the session.
                _log.exception("a listener to a %s failed", type(self).__name__)
