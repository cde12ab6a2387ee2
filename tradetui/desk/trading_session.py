"""What of a session may send. Its intents are there at once; what carries them out is loaded when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from tradetui.desk.intents.intents import Intents

if TYPE_CHECKING:
    from tradetui.desk.creation import Creation
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.tracking.followed_reversals import Listener


class TradingSession:
    """The intents of an account, and by them its reversals and what it creates, each made once.

    Making them loads a fifth of the program, so the desk asks for them after its first rows, on the thread of the
    disk; whoever needs one earlier gets the same one. `progress_listener` is called with every progress of every
    reversal.
    """

    def __init__(
        self,
        intents: Intents,
        make_execution: Callable[[Intents], Execution],
        make_creation: Callable[[Intents], Creation] | None = None,
    ) -> None:
        """`make_creation` is None where the profile allows no sub-account and no key to be created."""
        self.intents = intents
        self.progress_listener: Listener | None = None
        self._make_execution = make_execution
        self._make_creation = make_creation
        self._execution: Execution | None = None
        self._creation: Creation | None = None
        self._making = Lock()

    @property
    def execution(self) -> Execution:
        """The reversals of the account."""
        with self._making:
            if self._execution is None:
                self._execution = self._make_execution(self.intents)
                if self.progress_listener is not None:
                    self._execution.subscribe(self.progress_listener)
            return self._execution

    @property
    def may_create(self) -> bool:
        """Whether sub-accounts and keys may be created."""
        return self._make_creation is not None

    @property
    def creation(self) -> Creation | None:
        """What creates sub-accounts and keys; None where that is not allowed."""
        with self._making:
            if self._creation is None and self._make_creation is not None:
                self._creation = self._make_creation(self.intents)
            return self._creation

    @property
    def holds_unsaved_keys(self) -> bool:
        """Whether a key that was issued is in memory only; the end of the session may lose it."""
        return self._creation is not None and self._creation.holds_unsaved

    async def stop(self) -> None:
        """End what was made, and close the journal."""
        if self._creation is not None:
            await self._creation.stop()
        if self._execution is not None:
            await self._execution.stop()
        else:
            self.intents.close()
