"""`tradetui journal`: every intent of the account and its outcome, with a store those of all machines."""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import tzinfo

from tradetui.commands.process.console import ATTENTION, DONE, say, stdout
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.commands.session.store_checks import connected_store
from tradetui.desk.intents.journal.account_store import OTHERS_LISTED, AccountStore
from tradetui.desk.intents.journal.registered_journal import (
    JournalLocation,
    RegisteredJournal,
    accept_loss,
    existing_journal,
)
from tradetui.desk.intents.lost_intents import BY
from tradetui.desk.intents.states import ENDED, Intent, State
from tradetui.desk.tables.time_format import zoned_text
from tradetui.exchange.clock import Moment, SystemClock
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.sqlite_file import FileLost, FileUnusable
from tradetui.wire.exchange_time import utc_moment

_EMPTY = "The journal is empty: nothing has been sent for this account from this data directory."
_EMPTY_EVERYWHERE = "Nothing has been sent for this account from any machine that shares the store."
_NOT_KNOWN = (
    "The account is not identified: the exchange has never reported its UID to this profile, so its journal cannot be "
    "found. Set uid in the profile, or try again when the exchange answers."
)

NOT_ENDED = (
    "Not settled: a running tradetui session on this account looks for the outcome. Start one if none runs; until "
    "then check the exchange's site before you send anything again."
)
ACCEPTED = "Trading is locked now for every session of the account; L in tradetui unlocks it."


def run(args: argparse.Namespace) -> int:
    """Print the intents, newest first.

    The exit code is 3 while one is unsettled in any journal of the account, and if the store does not say what others
    have sent.
    """
    profile = open_privately(os.environ, Flags.of(args))
    if args.accept_loss:
        return _accept_loss(profile.journal)
    intents, locked_elsewhere = _newest(profile.journal)
    are_all_known, empty = True, _EMPTY
    if profile.loaded.profile.store is not None:
        try:
            intents, empty = asyncio.run(_of_all_machines(profile, intents)), _EMPTY_EVERYWHERE
        except (StoreAway, StoreRefused) as problem:
            did = "cannot be reached" if isinstance(problem, StoreAway) else "refuses it"
            say(f"tradetui: the store {did}: {problem}. Only what this machine's journal has is listed.")
            are_all_known = False
    output = stdout()
    if args.json:
        output.json_line([_as_json(intent) for intent in intents])
    else:
        for intent in intents:
            for line in _lines(intent, profile.settings.zone):
                output.line(line)
        if not intents:
            say(empty if profile.account.known else _NOT_KNOWN)
    is_settled = are_all_known and not locked_elsewhere and all(intent.state in ENDED for intent in intents)
    return DONE if is_settled and (intents or profile.account.known) else ATTENTION


def _accept_loss(location: JournalLocation) -> int:
    try:
        accepted = accept_loss(location, Moment.now(SystemClock()))
    except (FileUnusable, sqlite3.Error, OSError) as problem:
        raise unusable_journal(location, problem) from None
    for sentence in accepted:
        say(f"Accepted: {sentence}")
    say(ACCEPTED if accepted else "Nothing is lost: the journal is as it was written.")
    return DONE


def _newest(location: JournalLocation) -> tuple[list[Intent], bool]:
    """Return the newest intents, and whether another journal of the account locks a symbol; such locks are printed."""
    locked_elsewhere = False
    try:
        journal = existing_journal(location)
        if journal is None:
            return [], False
        with closing(journal):
            journal.check()
            if isinstance(journal, RegisteredJournal):
                for scope, holder in journal.reconcile(Moment.now(SystemClock())).items():
                    locked_elsewhere = True
                    say(f"{scope} is locked by intent {holder.intent} in {journal.path_of(holder)}.")
                if journal.notice:
                    say(journal.notice)
            return journal.newest(), locked_elsewhere
    except (FileUnusable, sqlite3.Error, OSError) as problem:
        raise unusable_journal(location, problem) from None


async def _of_all_machines(profile: OpenProfile, own: list[Intent]) -> list[Intent]:
    """Return this machine's intents and those of the others, newest first; the owner of each step is who wrote it."""
    async with connected_store(profile) as server:
        store = AccountStore(server, profile.account.name, profile.machine)
        in_store = {intent.id: intent for intent in await store.newest(len(own) + OTHERS_LISTED)}
        named = [_with_writers(intent, in_store.pop(intent.id, None), str(store.writer)) for intent in own]
    return sorted([*named, *in_store.values()], key=lambda intent: -intent.events[0].at_ms)


def _with_writers(intent: Intent, in_store: Intent | None, own: str) -> Intent:
    """Name the writer of each step of this machine's journal, as the store has it, else this machine."""
    owners = {} if in_store is None else {event.chain: event.owner for event in in_store.events}
    if in_store is not None:  # whose first step has an id of its own
        owners[intent.events[0].chain] = in_store.events[0].owner
    steps = (step._replace(owner=step.details.get(BY) or owners.get(step.chain, own)) for step in intent.events)
    return intent._replace(events=tuple(steps))


def unusable_journal(location: JournalLocation, problem: Exception) -> ConfigurationError:
    """Return the error that says why a journal cannot be used, and what to do."""
    if not isinstance(problem, FileUnusable):
        return ConfigurationError(
            f"it cannot be read ({problem})",
            location=str(location.file),
            remedy="Check the disk and the data directory.",
        )
    locked = f"; open in it: {', '.join(problem.locked)}" if isinstance(problem, FileLost) and problem.locked else ""
    return ConfigurationError(problem.reason + locked, location=problem.file, remedy=problem.remedy)


def _as_json(intent: Intent) -> dict[str, object]:
    return {
        "id": intent.id,
        "kind": intent.kind,
        "lock": intent.scope,
        "state": str(intent.state),
        "events": [
            {
                "state": str(event.state),
                "at": event.at_ms,
                **event.details,
                **({BY: event.writer} if event.writer else {}),
            }
            for event in intent.events
        ],
    }


def _lines(intent: Intent, zone: tzinfo) -> Iterator[str]:
    at = zoned_text(utc_moment(intent.events[0].at_ms), zone)
    details = intent.details
    first, last = intent.events[0].writer, intent.events[-1].writer
    by = f" · {first}" if first else ""
    yield f"{at}  {intent.state:<12} {intent.title}{by}  {intent.end}  {intent.id}"
    if last != first:
        yield f"{'':{len(at)}}  {intent.state} by {last}"
    if details.get("next") and intent.state in (State.UNKNOWN, State.REJECTED):
        yield f"{'':{len(at)}}  {details['next']}"
    elif intent.state not in ENDED:
        yield f"{'':{len(at)}}  {NOT_ENDED}"
