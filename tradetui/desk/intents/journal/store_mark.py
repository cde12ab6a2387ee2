"""The newest step that this machine has seen in the store. A store that lacks it is an older copy of itself."""

from __future__ import annotations

import json
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tradetui.desk.intents.journal.account_store import AccountStore, StoreEvent
from tradetui.desk.tables.time_format import zoned_text
from tradetui.storage.atomic_file import write_text
from tradetui.storage.disk_thread import Disk
from tradetui.wire.exchange_time import utc_moment

MARK_FILE: Final = "store.json"
"""Beside the journal of an account that has joined a store."""
JOINED: Final = "this machine has joined a store that several machines share, and the profile names none"
REJOIN: Final = "Set store in the profile again. To work without it, first set it, then run tradetui store leave"
_UNTOLD_LOCK_FILE: Final = "lock_to_tell"
OLDER_COPY: Final = "The store went back in time: it is an older copy of itself and lacks {}."
OLDER_COPY_REMEDY: Final = (
    "Check positions, orders and fills on the exchange's site, then press L in tradetui and accept the older copy."
)


class SeenStep(NamedTuple):
    """An event of the store: its number, its writer's id of it, and its time by the server for display (Unix ms).

    `version` is that of the account then, which a lock on trading raises too.
    """

    number: int
    step: str
    at_ms: int = 0
    version: int = 0

    @property
    def version_and_number(self) -> tuple[int, int]:
        """How far the store had come."""
        return self.version, self.number


class OlderCopy(Exception):
    """The store lacks what it had; the message names what, to be put into `OLDER_COPY`."""


class StoreMark:
    """The file with the newest step seen, which all sessions of this machine share.

    `newest_step` is the step as last read or written; None before that, and while the store has never been seen.
    """

    def __init__(self, file: Path, disk: Disk) -> None:
        self.newest_step: SeenStep | None = None
        self._file = file
        self._disk = disk

    async def read(self) -> None:
        """Read the file, which another session may have written; raises OSError if it cannot be read."""
        try:
            mark = json.loads(await self._disk.run(self._file.read_text, encoding="utf-8"))
            version = int(mark.get("version", 0))
            self.newest_step = SeenStep(int(mark["number"]), str(mark["step"]), int(mark["at_ms"]), version)
        except FileNotFoundError:
            self.newest_step = None
        except (KeyError, TypeError, ValueError):
            raise OSError(f"{self._file} cannot be read") from None

    async def catch_up(self) -> None:
        """Take over what another session of this machine has seen beyond this one; raises OSError as `read` does."""
        former = self.newest_step
        await self.read()
        newest = self.newest_step
        if former is not None and (newest is None or newest.version_and_number < former.version_and_number):
            self.newest_step = former

    async def events_since(self, store: AccountStore, version: int) -> list[StoreEvent]:
        """Return the store's events from the step seen on, or the newest of its `version` if none was seen.

        Raises OlderCopy if the step is not there any more; StoreAway, StoreRefused.
        """
        newest = self.newest_step or SeenStep(version, "")
        events = await store.events_after(newest.number - 1)
        if newest.step and (not events or (events[0].number, events[0].step) != (newest.number, newest.step)):
            raise OlderCopy(f"a step that this machine saw there at {zoned_text(utc_moment(newest.at_ms), UTC)}")
        # Another session of this machine may have seen more since the version was read.
        if version < newest.version and (await store.state()).version < newest.version:
            raise OlderCopy("a lock on trading, or its removal, that this machine saw there")
        return events

    async def remember(self, events: list[StoreEvent], version: int) -> None:
        """Write down the last of these events as seen, or that the store has none, and the account's version."""
        last = (events[-1].number, events[-1].step, events[-1].at_ms) if events else (0, "", 0)
        newest = SeenStep(*last, version)
        if newest != self.newest_step:
            await self._disk.run(write_text, self._file, json.dumps(newest._asdict()))
            self.newest_step = newest

    async def has_untold_lock(self) -> bool:
        """Whether a person of this machine has locked trading and the store does not know, perhaps since yesterday."""
        return await self._disk.run(self._untold_lock_file.exists)

    async def keep_untold_lock(self, is_untold: bool) -> None:
        """Remember it beyond the session. A lock removed without the store is not: another machine may have set one."""
        if is_untold:
            await self._disk.run(write_text, self._untold_lock_file, "")
        else:
            await self._disk.run(partial(self._untold_lock_file.unlink, missing_ok=True))

    @property
    def _untold_lock_file(self) -> Path:
        return self._file.with_name(_UNTOLD_LOCK_FILE)
