"""Ten mistakes in what keeps a reversal safe, by name; each is made in a running program."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal import journal
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.desk.reversal import execution
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.pretrade_checks import RiskContext
from tradetui.desk.reversal.sending import Sending
from tradetui.desk.reversal.tracking import evidence, order_reads
from tradetui.exchange.calls import writes
from tradetui.exchange.calls.result import CallResult, write_result
from tradetui.exchange.calls.signed_call import SignedCalls
from tradetui.exchange.clock import Moment
from tradetui.exchange.errors import OutcomeUnknown, Rejected
from tradetui.storage.sqlite_file import open_file

Patch = Callable[[Any, str, Any], object]
"""Puts a value in the place of an attribute: `setattr`, or pytest's, which takes it back."""


def sync_left_out(patch: Patch) -> None:
    right = open_file

    def wrong(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = right(*arguments, **named)
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    patch(journal, "open_file", wrong)


def lock_dropped_on_restart(patch: Patch) -> None:
    right = Journal.__init__

    def wrong(self: Journal, file: Path, owner: str = "") -> None:
        right(self, file, owner)
        for intent in self.open_intents():
            with self._writing():
                self._connection.execute("UPDATE intent SET open = 0, state = 'released' WHERE id = ?", (intent.id,))
                self._append(intent.id, State.RELEASED, {}, Moment(0))

    patch(Journal, "__init__", wrong)


def post_retried(patch: Patch) -> None:
    right: Callable[..., Awaitable[CallResult]] = SignedCalls._send

    async def wrong(self: SignedCalls, call: Any, *arguments: Any) -> Any:
        answer = await right(self, call, *arguments)
        if answer.failure is not None and call.before_send is not None:
            answer = await right(self, call._replace(before_send=None), *arguments)
        return answer

    patch(SignedCalls, "_send", wrong)


def time_out_read_as_failure(patch: Patch) -> None:
    right = write_result

    def wrong(endpoint: Any, answer: Any) -> Any:
        result = right(endpoint, answer)
        return Rejected("no answer in time") if isinstance(result, OutcomeUnknown) else result

    patch(writes, "write_result", wrong)


def reading_again_skipped(patch: Patch) -> None:
    async def as_shown(self: Execution, shown: Any) -> Any:
        return shown

    patch(Execution, "_read_again", as_shown)


def intent_written_after_sending(patch: Patch) -> None:
    async def wrong(self: Sending, now: Any, before_reading: int, store_version: int | None) -> Any:
        plan = now.plan.with_client_oid(self.intent)
        self._stamp_ms = self._client.server_clock.now_ms
        try:
            await self._client.write(plan.request)
            state = State.ACKNOWLEDGED
        except OutcomeUnknown:
            state = State.UNKNOWN
        await self._begin(plan, now, before_reading, store_version)
        await self._intents.step(self.intent, State.SENT, {"stamp_ms": self._stamp_ms})
        await self._intents.step(self.intent, state, {})
        return self._sent(now, state, "sent")

    patch(Sending, "send", wrong)


def absence_read_as_unchanged(patch: Patch) -> None:
    patch(evidence, "ABSENCE_S", -1.0)
    patch(order_reads, "_WINDOW_MS", -60_000)


def two_intents_for_a_symbol(patch: Patch) -> None:
    right, right_again = Journal.__init__, Execution._read_again

    def without_index(self: Journal, file: Path, owner: str = "") -> None:
        right(self, file, owner)
        self._connection.execute("DROP INDEX IF EXISTS one_open_intent")

    def begin(
        self: Journal, intent: str, account: str, scope: str, kind: str, details: Any, at: Moment, **_: Any
    ) -> None:
        with self._writing():
            self._connection.execute(
                "INSERT INTO intent VALUES (?, ?, ?, ?, ?, 1)", (intent, account, scope, kind, State.INTENDED)
            )
            self._append(intent, State.INTENDED, details, at)

    async def read_again(self: Execution, shown: Any) -> Any:
        changes = await right_again(self, shown)
        self.intents.open_scopes.see({}, {})
        return changes

    patch(Journal, "__init__", without_index)
    patch(Journal, "begin", begin)
    patch(Execution, "_read_again", read_again)


def released_without_journal(patch: Patch) -> None:
    async def wrong(self: Execution, intent: str, why: str) -> None:
        self.intents._ready()._connection.execute("UPDATE intent SET open = 0 WHERE id = ?", (intent,))
        await self.intents.refresh()

    patch(Execution, "release", wrong)


def locked_ignored(patch: Patch) -> None:
    right = RiskContext

    def situation(**changes: Any) -> Any:
        return replace(right(**changes), sends_nothing=())

    async def about_to_send(self: Intents, intent: str, details: Any) -> None:
        await self.step(intent, State.SENT, details)

    patch(execution, "RiskContext", situation)
    patch(Intents, "about_to_send", about_to_send)


MUTATIONS: Mapping[str, Callable[[Patch], None]] = {
    "the sync left out": sync_left_out,
    "the lock dropped on restart": lock_dropped_on_restart,
    "the POST retried": post_retried,
    "a time-out read as failure": time_out_read_as_failure,
    "the reading before sending skipped": reading_again_skipped,
    "the intent written after sending": intent_written_after_sending,
    "absence read as unchanged at once": absence_read_as_unchanged,
    "two intents for a symbol": two_intents_for_a_symbol,
    "released without the journal": released_without_journal,
    "LOCKED ignored": locked_ignored,
}
