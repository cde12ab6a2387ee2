"""Opens an account's journal, or says what of it is lost; and accepts a loss when the trader says so."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Final

from tradetui.desk.intents.journal.journal import Journal, written_mark
from tradetui.desk.intents.journal.journal_registry import RegisteredHead, Registry
from tradetui.desk.intents.journal.registered_journal import JournalLocation, RegisteredJournal, located
from tradetui.desk.intents.states import Intent
from tradetui.exchange.clock import Moment
from tradetui.storage.process_life import ProcessLives
from tradetui.storage.sqlite_file import FileLost, FileUnusable, accept_damage, set_aside, set_aside_before

_log = logging.getLogger(__name__)

_FILES_AT_MOST: Final = 100
"""Every round of accepting sets one lost file aside; an account has a few, and more is a fault that goes on."""


def open_journal(location: JournalLocation, lives: ProcessLives | None = None) -> Journal:
    """Open the journal of an account; `check` has still to look at all of it. Blocks briefly.

    Raises FileLost where it, or another journal of the account, is damaged, absent or changed; FileUnusable where it is
    newer, not writable, a copy, or on a network file system.
    """
    journal = _open(located(location), lives, creates=True)
    assert journal is not None  # it is made where there is none
    return journal


def existing_journal(location: JournalLocation) -> Journal | None:
    """The journal of an account where there is one, for who only reads; nothing is made. Raises as `open_journal`."""
    return _open(located(location), None, creates=False)


def _open(location: JournalLocation, lives: ProcessLives | None, *, creates: bool) -> Journal | None:
    file, registry_file = location.file, location.registry_file
    opens = creates or (file is not None and any(map(_is_there, (file, *location.former_files))))
    if file is None or registry_file is None:
        return Journal(file, lives.owner if lives else "") if opens else None
    if not opens and not _is_there(registry_file):
        return None
    with ExitStack() as unless_opened:
        registry = unless_opened.enter_context(closing(Registry(registry_file)))
        journal = _open_registered(location, file, lives, registry, creates=creates)
        if journal is not None:
            unless_opened.pop_all()
    return journal


def _is_there(file: Path) -> bool:
    """Whether there is a file, or was one that was set aside as damaged."""
    return file.exists() or set_aside_before(file) is not None


def open_intents_in(location: JournalLocation) -> list[Intent]:
    """The unsettled intents of an account's journal, oldest first; nothing is made. Raises as `open_journal`."""
    journal = existing_journal(location)
    if journal is None:
        return []
    with closing(journal):
        return journal.open_intents()


class JournalReader:
    """Reads of an account's journal by a session that sends nothing."""

    def __init__(self, location: JournalLocation) -> None:
        self._location = location
        self._mark: object = None
        self._contradiction = ""

    def contradiction(self) -> str:
        """Why the account's fills do not show what is held; empty while nothing says so. Blocks."""
        file = located(self._location).file
        mark = file and written_mark(file)
        if self._mark is None or self._mark != mark:
            try:
                journal = existing_journal(self._location)
                if journal is not None:
                    with closing(journal):
                        intent = journal.newest_contradicted()
                    self._contradiction = "" if intent is None else intent.contradiction
            except (FileUnusable, sqlite3.Error, OSError) as problem:
                _log.warning("what other sessions have shown of fills cannot be read: %s", problem)
            self._mark = mark  # of before: what is written while it is read is read the next time
        return self._contradiction


class LossAcceptance:
    """Sees that another session has accepted the loss of a journal that was whole at the moment `since`."""

    def __init__(self, since: Moment) -> None:
        self._since = since
        self._mark: object = None

    def is_written(self, location: JournalLocation) -> bool:
        """Whether the journal opens again and says that a loss was accepted since. Blocks.

        One that comes back, or an older one, was not accepted, also where it is locked. It is looked at once after
        each change; nothing is made where it is still absent.
        """
        file = located(location).file
        mark = file and written_mark(file)
        if mark == self._mark:
            return False
        self._mark = mark
        try:
            journal = existing_journal(location)
            if journal is None:
                return False
            with closing(journal):
                return journal.has_accepted_loss(self._since)
        except (FileUnusable, sqlite3.Error, OSError):
            return False  # it is still as it was


def _open_registered(
    location: JournalLocation, file: Path, lives: ProcessLives | None, registry: Registry, *, creates: bool
) -> RegisteredJournal | None:
    aliases = registry.known_as(location.aliases)
    heads = registry.journals(aliases)
    by_path = {head.path: head for head in heads}
    opened: dict[Path, RegisteredJournal] = {}
    losses: list[FileLost] = []
    for path in (file, *location.former_files):
        if _is_there(path):
            try:
                opened[path] = RegisteredJournal(path, lives, registry, aliases)
            except FileLost as lost:
                losses.append(FileLost(lost.file, lost.reason, _scopes_of(registry, by_path.get(path))))
    losses += _missing_or_replaced(registry, heads, opened, {Path(lost.file) for lost in losses})
    if losses:
        for journal in opened.values():
            journal.close()
        raise _as_one(losses)
    main = opened.pop(file, None)
    if main is None:
        if not creates and not opened:
            return None
        main = RegisteredJournal(file, lives, registry, aliases)
    main.take_over(list(opened.values()))
    return main


def _missing_or_replaced(
    registry: Registry,
    heads: Sequence[RegisteredHead],
    opened: Mapping[Path, RegisteredJournal],
    damaged: Collection[Path],
) -> Iterator[FileLost]:
    """Of registered journals those that are absent, emptied or replaced; one that never held anything is forgotten."""
    here = {journal.id for journal in opened.values()}
    for head in heads:
        if head.journal in here or head.path in damaged:
            continue
        if head.path in opened:
            reason = "it was emptied or replaced by another one"
        elif not head.path.exists():
            reason = "it is not there any more"
        else:
            continue
        # What was reserved may be intended there, though the head is written only once it is sent.
        if head.head.number or registry.held_by(head.journal):
            yield FileLost(str(head.path), reason, _scopes_of(registry, head))
        else:
            registry.forget(head.journal)


def accept_loss(location: JournalLocation, moment: Moment, lives: ProcessLives | None = None) -> tuple[str, ...]:
    """Go on without the lost files: the trader's own deliberate step. Nothing is deleted; trading is locked.

    A damaged or changed file is renamed and kept, and its locks are free. Blocks. Returns the accepted losses as
    sentences; empty where nothing is lost. Raises FileUnusable where the journal cannot be used for another reason.
    """
    location = located(location)
    accepted: list[str] = []
    for _ in range(_FILES_AT_MOST):
        try:
            journal = open_journal(location, lives)
            journal.check()
        except FileLost as lost:
            accepted.append(f"{lost.file}: {lost.reason}")
            _set_lost_aside(location)
            continue
        if accepted:
            journal.accepted_loss(accepted, moment)
        journal.close()
        return tuple(accepted)
    raise FileLost(str(location.file), "it cannot be replaced")


def _set_lost_aside(location: JournalLocation) -> None:
    """Rename the account's damaged and changed files, and drop from the registry what they held."""
    if location.file is None:
        return
    files = (location.file, *location.former_files)
    for path in files:
        accept_damage(path)
    if location.registry_file is None:
        return
    accept_damage(location.registry_file)
    with closing(Registry(location.registry_file)) as registry:
        for head in registry.journals(registry.known_as(location.aliases)):
            if not head.path.exists():
                registry.forget(head.journal)
            elif head.path in files and not _is_as_registered(head):
                set_aside(head.path)
                accept_damage(head.path)
                registry.forget(head.journal)


def _is_as_registered(head: RegisteredHead) -> bool:
    """Whether the file is the one that was registered, and holds at least what it held then; damage is accepted."""
    try:
        journal = Journal(head.path)
    except FileLost:
        accept_damage(head.path)
        return not head.path.exists()
    with closing(journal), suppress(FileLost):
        point = journal.verify()
        number, chain = head.head
        return (
            journal.id == head.journal and point.number >= number and (not number or journal.chain_at(number) == chain)
        )
    return False


def _scopes_of(registry: Registry, head: RegisteredHead | None) -> tuple[str, ...]:
    return () if head is None else tuple(reservation.scope for reservation in registry.held_by(head.journal))


def _as_one(losses: Sequence[FileLost]) -> FileLost:
    if len(losses) == 1:
        return losses[0]
    reason = "; ".join([losses[0].reason, *(f"{lost.file}: {lost.reason}" for lost in losses[1:])])
    return FileLost(losses[0].file, reason, [scope for lost in losses for scope in lost.locked])
