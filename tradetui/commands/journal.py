"""`tradetui journal`: every intent of the account and how it ended."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime

from tradetui.commands.console import say, stdout
from tradetui.commands.data_directory import load_privately
from tradetui.commands.exit_codes import ATTENTION, DONE
from tradetui.commands.session import flags_of, identity_of, journal_file
from tradetui.desk.journal import ENDED, Intent, Journal, State
from tradetui.desk.sqlite_file import FileUnusable, set_aside_before
from tradetui.profiles.errors import ConfigurationError
from tradetui.wire.json_text import dump

EMPTY = "The journal is empty: nothing was ever sent for this account from this data directory."
NOT_KNOWN = (
    "It is not known whose account this is: the exchange does not tell now and did not before, so its journal, if "
    "there is one, cannot be found. Set uid in the profile, or try again when the exchange answers."
)

NOT_ENDED = (
    "Not settled: what became of it is looked for while tradetui runs on this account. Where none runs, start it; "
    "until then look at the exchange's own pages before doing anything again."
)


def run(args: argparse.Namespace) -> int:
    """Print the intents, newest first; exit code 3 while one is not settled."""
    loaded = load_privately(os.environ, flags_of(args))
    account = identity_of(loaded)
    file = journal_file(loaded, account)
    intents: list[Intent] = []
    if file.exists() or set_aside_before(file) is not None:
        try:
            journal = Journal(file)
            journal.check()
        except FileUnusable as problem:
            raise ConfigurationError(problem.reason, place=problem.file, remedy=problem.remedy) from None
        intents = journal.newest()
        journal.close()
    output = stdout()
    if args.json:
        output.json(dump([_as_json(intent) for intent in intents]))
        output.layout("\n")
    else:
        for intent in intents:
            for line in _lines(intent):
                output.line(line)
        if not intents:
            say(EMPTY if account.known else NOT_KNOWN)
    if not account.known and not intents:
        return ATTENTION
    return ATTENTION if any(intent.state not in ENDED for intent in intents) else DONE


def _as_json(intent: Intent) -> dict[str, object]:
    return {
        "id": intent.id,
        "kind": intent.kind,
        "lock": intent.lock_key,
        "state": str(intent.state),
        "events": [{"state": str(each.state), "at": each.at_ms, **each.told} for each in intent.events],
    }


def _lines(intent: Intent) -> Iterator[str]:
    at = datetime.fromtimestamp(intent.events[0].at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    told = intent.told
    outcome = told.get("outcome") or told.get("message") or told.get("why") or ""
    yield f"{at}  {intent.state:<12} {told.get('title', intent.kind)}  {outcome}  {intent.id}"
    if told.get("next") and intent.state in (State.UNKNOWN, State.REJECTED):
        yield f"{'':{len(at)}}  {told['next']}"
    elif intent.state not in ENDED:
        yield f"{'':{len(at)}}  {NOT_ENDED}"
