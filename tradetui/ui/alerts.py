"""What rings the bell: once for whatever comes together, so that a busy market does not ring without end."""

from __future__ import annotations

AT_MOST_EVERY_S = 5.0


class Bell:
    """Tells when to ring."""

    def __init__(self) -> None:
        self._rang_at: float | None = None

    def rings(self, now: float, *, at_once: bool) -> bool:
        """Whether to ring now; what is `at_once` always does."""
        if not at_once and self._rang_at is not None and now - self._rang_at < AT_MOST_EVERY_S:
            return False
        self._rang_at = now
        return True
