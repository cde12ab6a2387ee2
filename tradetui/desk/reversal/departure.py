"""Whether one attempt to send has left this machine: until its first byte it can be withdrawn."""

from __future__ import annotations

from tradetui.exchange.errors import NotSent


class Departure:
    """One attempt leaves or is withdrawn, never both.

    Nothing is awaited between the two answers, so whoever withdrew it in time knows at once that it never leaves.
    """

    def __init__(self) -> None:
        self._departed = False
        self._withdrawn_because = ""

    @property
    def departed(self) -> bool:
        """Whether the first byte may have left."""
        return self._departed

    @property
    def withdrawn(self) -> bool:
        """Whether it never leaves."""
        return bool(self._withdrawn_because)

    def withdraw(self, reason: str) -> bool:
        """Keep it from leaving, for a reason in words; whether that was in time."""
        if not self._departed:
            self._withdrawn_because = self._withdrawn_because or reason
        return not self._departed

    def check(self) -> None:
        """Raise NotSent where it was withdrawn."""
        if self._withdrawn_because:
            raise NotSent(self._withdrawn_because)

    def depart(self) -> None:
        """Let the first byte leave; raises NotSent where it was withdrawn."""
        self.check()
        self._departed = True
