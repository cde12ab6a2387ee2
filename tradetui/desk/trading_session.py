"""The part of a session that may send: intents from the start, reversals and creation loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final

from tradetui.desk.account.account_storage import ACCOUNTS_DIR, account_dir
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.journal_registry import REGISTRY_FILE
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.settings import DeskSettings
from tradetui.storage.disk_thread import Disk
from tradetui.storage.process_life import ALIVE_DIR

if TYPE_CHECKING:
    from tradetui.desk.creation import Creation
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.tracking.outcome_tracker import Listener

JOURNAL_FILE: Final = "journal.sqlite"
KEY_STORE_DIR: Final = "vault"
UID_NOT_KNOWN: Final = (
    "The exchange does not report this account's UID and the profile sets none: what is sent with another key of the "
    "account does not lock the symbol here. Set uid in each profile."
)


def journal_location(settings: DeskSettings, account: AccountIdentity) -> JournalLocation:
    """Return the location of an account's journal in the data directory, with every former name of it."""
    assert settings.data_dir is not None
    folder = account_dir(settings.data_dir, account, settings.key_stand_in)
    names = (account.name, *account.former_names(settings.key_stand_in))
    others = (settings.data_dir / ACCOUNTS_DIR / name for name in names if name != folder.name)
    return JournalLocation(
        folder / JOURNAL_FILE,
        settings.state_dir and settings.state_dir / REGISTRY_FILE,
        account.aliases(settings.key_stand_in),
        tuple(other / JOURNAL_FILE for other in others if other.is_dir()),
        settings.runtime_dir and settings.runtime_dir / ALIVE_DIR,
    )


class TradingSession:
    """The intents of an account, and the reversals and creations that use them, each created once.

    Creating them loads a fifth of the program. So the desk does it after its first rows, on the disk thread; an earlier
    caller gets the same objects. `progress_listener` is called with every progress of every reversal.
    """

    def __init__(
        self,
        intents: Intents,
        make_execution: Callable[[Intents], Execution],
        make_creation: Callable[[Intents], Creation] | None = None,
    ) -> None:
        """Prepare the session; `make_creation` is None if the profile allows no creation of sub-accounts and keys."""
        self.intents = intents
        self.progress_listener: Listener | None = None
        self._make_execution = make_execution
        self._make_creation = make_creation
        self._execution: Execution | None = None
        self._creation: Creation | None = None
        self._making = Lock()
        self._until_stopped: TemporaryDirectory[str] | None = None
        """The journal's directory in a session without a data directory; it is removed at the end."""

    @property
    def execution(self) -> Execution:
        if self._execution is not None:
            return self._execution
        with self._making:
            if self._execution is None:
                self._execution = self._make_execution(self.intents)
                if self.progress_listener is not None:
                    self._execution.followed.subscribe(self.progress_listener)
            return self._execution

    @property
    def contradiction(self) -> str:
        """Why sums of this account's hedge-mode fills are not its positions; empty unless a reversal showed it."""
        return "" if self._execution is None else self._execution.contradiction

    @property
    def may_create(self) -> bool:
        return self._make_creation is not None

    @property
    def creation(self) -> Creation | None:
        """Creation of sub-accounts and keys; None if not allowed."""
        with self._making:
            if self._creation is None and self._make_creation is not None:
                self._creation = self._make_creation(self.intents)
            return self._creation

    @property
    def holds_unsaved_keys(self) -> bool:
        return self._creation is not None and self._creation.holds_unsaved

    async def look_ahead(self, settings: DeskSettings, account: AccountIdentity) -> None:
        """Read the open intents of the expected account's journal before the exchange confirms the account."""
        await self.intents.look_ahead(self._journal_location(settings, account))

    async def open(self, settings: DeskSettings, account: AccountIdentity, disk: Disk) -> None:
        """Open the account's journal, and the keys issued to it; `disk` runs blocking work."""
        execution = await disk.run(lambda: self.execution)
        execution.key_reads_only = account.key_reads_only
        location = self._journal_location(settings, account)
        await execution.open_journal(account.name, location, account.uid if account.known else None)
        if not account.known and settings.data_dir is not None:
            self.intents.notice = f"{self.intents.notice} {UID_NOT_KNOWN}".strip()
        creation = await disk.run(lambda: self.creation)
        if creation is not None:
            await creation.open(account, location.file.with_name(KEY_STORE_DIR), is_temporary=settings.data_dir is None)

    def _journal_location(self, settings: DeskSettings, account: AccountIdentity) -> JournalLocation:
        if settings.data_dir is not None:
            return journal_location(settings, account)
        if self._until_stopped is None:
            self._until_stopped = TemporaryDirectory(prefix="tradetui-", ignore_cleanup_errors=True)
        return JournalLocation(Path(self._until_stopped.name) / JOURNAL_FILE)

    async def stop(self) -> None:
        if self._creation is not None:
            await self._creation.stop()
        if self._execution is not None:
            await self._execution.stop()
        else:
            self.intents.close()
        if self._until_stopped is not None:
            self._until_stopped.cleanup()
