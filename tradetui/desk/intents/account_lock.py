"""The trading lock of an account: chosen by hand in any of its sessions, and written where all of them see it."""

from __future__ import annotations

from enum import StrEnum

from tradetui.desk.intents.journal.journal import Journal
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk


class SendsNothing(StrEnum):
    """Why a session sends nothing, whatever it is asked to send."""

    MONITOR = "Monitor mode: nothing can be sent."
    KEY_READS_ONLY = (
        "This API key can only read: the exchange would refuse the order. "
        "Allow the key to trade futures on the exchange's site, then start again."
    )
    LOCKED = "Trading is locked."


class AccountLock:
    """The lock as this session knows it. Its newest choice counts, even where an older one is written later."""

    def __init__(self, disk: Disk, clock: Clock, *, locked: bool) -> None:
        self.is_shared = True
        """Whether the other sessions see that this one was locked by hand."""
        self.here = locked
        """Whether this session is locked, whatever the others see."""
        self._everywhere = False
        self._disk = disk
        self._clock = clock
        self.choice = 0
        """The number of the newest choice of this session."""

    @property
    def locked(self) -> bool:
        """Whether it was locked in this session, or by hand in any process of the account."""
        return self.here or self._everywhere

    def choose(self, locked: bool, *, has_journal: bool) -> int:
        """Lock or unlock at once; gives the number of the choice, with which it is to be written."""
        self.choice += 1
        self._everywhere = locked
        # Without a journal no other session can see it, so it holds in this one alone.
        self.here = locked and not has_journal
        self.is_shared = True
        return self.choice

    def take_over(self, locked: bool, choice: int) -> None:
        """Take the journal's lock, unless a choice was made here since it was read."""
        if choice == self.choice:
            self._everywhere = locked

    async def write(self, journal: Journal | None, locked: bool, choice: int) -> bool:
        """Write a choice for every process; whether it was written. A lock that was not holds in this session alone.

        Raises:
            FileUnusable, sqlite3.Error, OSError: the newest choice cannot be written.
        """
        if journal is None:
            self.is_shared = not locked
            return False
        try:
            await self._disk.run(journal.set_trading_lock, locked, Moment.now(self._clock))
        except Exception:
            if choice != self.choice:
                return False
            self.here = self.here or locked
            self.is_shared = not locked
            raise
        if choice == self.choice:
            self.is_shared, self.here = True, False
        return True
