"""Enters intents into the store in the state in which they are here, above all those that an older copy of it lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from tradetui.desk.intents.journal.account_store import AccountStore, StoreRefusal
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import ENDED, Event, Intent, State
from tradetui.storage.disk_thread import Disk
from tradetui.storage.postgres.errors import StoreRefused

STORE_NUMBER: Final = "store"
"""In the first step of a local intent: the number of its first event in the store."""
BY, COPY_OF = "by", "copy_of"
"""In a local step that was copied from the store: who wrote it there, and the id of the step."""
_UNSENT: Final = (State.INTENDED, State.WITHDRAWN)


def shared_details(intent: Intent, event: Event) -> Mapping[str, Any]:
    """Return what other machines may know of a step: of a creation only its title, because it makes keys."""
    details = {"title": intent.title} if intent.is_creation else {**event.details}
    details.pop(STORE_NUMBER, None)
    return details


def is_sent_only_here(intent: Intent, there: State) -> bool:
    """Whether the store is an older copy that lacks the step `sent`; somebody may have withdrawn it for that."""
    return there in _UNSENT and intent.state not in _UNSENT


class LostIntents:
    """What an older copy of the store has lost, and cannot be entered yet because another intent holds its symbol."""

    def __init__(self, store: AccountStore, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self._blocked: dict[str, Intent] = {}

    async def enter(self, journal: Journal, of_others: Iterable[Intent] = ()) -> None:
        """Enter what the store lacks: whatever is open here, and what has ended since the copy was made.

        Raises StoreAway, sqlite3.Error, OSError.
        """
        newest, own = await self._disk.run(journal.newest), await self._disk.run(journal.open_intents)
        lost = []
        for intent in [*of_others, *own, *newest]:
            try:
                there = (await self._store.read(intent.id)).state
            except KeyError:
                if intent.state not in ENDED or STORE_NUMBER in intent.details:
                    lost.append(intent)
                continue
            if there in ENDED and intent.state is there:
                break
            if is_sent_only_here(intent, there):
                lost.append(intent)
        self._blocked = {intent.id: intent for intent in sorted(lost, key=lambda intent: intent.events[0].number)}
        await self.enter_blocked()

    async def enter_blocked(self) -> None:
        """Try again to enter what could not be entered yet; raises StoreAway."""
        for intent in tuple(self._blocked.values()):
            with suppress(StoreRefused):  # another one still holds the symbol
                await self._enter(intent)
                del self._blocked[intent.id]

    async def is_entered(self, intent: Intent) -> bool:
        """Enter an intent; False while another one holds its symbol. Raises StoreAway, StoreRefused."""
        try:
            await self._enter(intent)
        except StoreRefused as refused:
            if refused.code != StoreRefusal.ALREADY_OPEN:
                raise
            return False
        return True

    async def _enter(self, intent: Intent) -> None:
        last = intent.events[-1]
        details = shared_details(intent, last._replace(details=intent.details))
        step = str(last.details.get(COPY_OF, last.chain))
        await self._store.adopt(intent.id, intent.scope, intent.kind, intent.state, details, step=step)
