"""Creates a sub-account or a key: journalled, sent once, and saved to disk before it is shown."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tradetui.desk.account.identity import AccountIdentity, current_owner
from tradetui.desk.creation.key_store import (
    AccountKeys,
    KeyStoreUnusable,
    MakeProfile,
    SecretBackend,
    StoredKey,
    UnsavedKeys,
    masked_secrets,
    match_issued_keys,
)
from tradetui.desk.creation.kinds import (
    CREATION_RULES,
    CreatedItem,
    CreationKind,
    CreationRequest,
    CreationStatus,
    RequestedKey,
    kind_of,
    requested_keys_of,
    requested_names,
    title_of,
    titles_of,
    what_to_do,
)
from tradetui.desk.intents.intents import Intents, SendsNothing
from tradetui.desk.intents.states import AlreadyOpen, Intent, State, Withheld, WrongStep
from tradetui.desk.settings import DeskSettings
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError, NotSent, OutcomeUnknown
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.error_codes import refusal_explained
from tradetui.wire.models.api_key import AccountInfo
from tradetui.wire.models.subaccounts import BrokerSubaccount, CreateSubaccountRequest

_GRACE_S: Final = 2.0
"""Seconds that the end of a session waits for a reply under way: the keys in it would be lost."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A creation with its intent: the requested keys, and the names reserved for them."""

    intent: str
    kind: CreationKind
    request: CreationRequest
    requested_keys: Sequence[RequestedKey]
    names: Sequence[str]

    def without_passphrases(self, text: str) -> str:
        """Mask the chosen passphrases in a text from the exchange."""
        for key in self.requested_keys:
            text = text.replace(key.passphrase.get_secret_value(), "***")
        return text


class Creation:
    """Creates sub-accounts and keys of one account; absent in monitor mode or if the profile does not allow it."""

    def __init__(
        self,
        client: ExchangeClient,
        settings: DeskSettings,
        clock: Clock,
        intents: Intents,
        disk: Disk,
        secret_backend: SecretBackend | None = None,
        make_profile: MakeProfile | None = None,
    ) -> None:
        """`secret_backend` stores secrets instead of files; `make_profile` writes a profile for a key."""
        #: Set once the account is known and its key store was looked at.
        self.opened = asyncio.Event()
        self.keys = AccountKeys(disk, clock, secret_backend, make_profile)
        self.settings = settings
        self._client = client
        self._intents = intents
        self._copies: bool | None = None
        self._account_info: AccountInfo | None = None
        self._busy: set[CreationKind] = set()
        self._sending = BackgroundTasks()
        self._taking_up = BackgroundTasks()
        self._unsaved: dict[str, UnsavedKeys] = {}

    async def open(self, account: AccountIdentity, folder: Path, *, is_temporary: bool = False) -> None:
        """Open the account's key store, and take up every creation that the journal shows as open."""
        self.keys.uid = account.uid if account.known else ""
        if account.info is not None:
            self._copies, self._account_info = account.info.is_copy_trader, account.info
        await self.keys.open(folder, is_temporary=is_temporary)
        self.opened.set()
        if self.keys.ready:
            self._taking_up.begin(self._take_up())

    async def stop(self) -> None:
        """End: wait briefly for a reply under way, and try once more to save unsaved keys."""
        await self._sending.finish(_GRACE_S)
        for intent in tuple(self._unsaved):
            with suppress(Withheld):
                await self.keep(intent)
        await self._sending.stop()
        await self._taking_up.stop()

    @property
    def holds_unsaved(self) -> bool:
        """Whether an issued key is in memory only; the end of the session may lose it."""
        return bool(self._unsaved)

    def offers(self, kind: CreationKind) -> bool:
        """Whether the account may create this, as far as is known."""
        if not self._permitted(kind) or (kind is CreationKind.COPY_KEY and self._copies is False):
            return False
        account_kind = CREATION_RULES[kind].account_kind
        return account_kind is None or self.settings.account_kind in (None, account_kind)

    def _permitted(self, kind: CreationKind) -> bool:
        return self._account_info is None or not self._account_info.lacks_all(CREATION_RULES[kind].authority)

    @property
    def locked(self) -> bool:
        return self._intents.locked

    @property
    def account_tag(self) -> str:
        """Names the account beside the button; empty where the session knows one profile."""
        return self._intents.account_tag

    def blocking_reasons(self, kind: CreationKind) -> tuple[str, ...]:
        """Return every reason against sending now, as sentences; if the key is another account's, only that."""
        intents = self._intents
        if intents.other_owner:
            return (intents.other_owner,)
        reasons: list[str] = [] if self._client.is_classic else [SendsNothing.UNIFIED]
        if intents.lock.locked:
            reasons.append(SendsNothing.LOCKED)
        if intents.store_trouble:
            reasons.append(intents.store_trouble)
        if intents.trouble:
            reasons.append(f"The journal cannot be used: {intents.trouble}.")
        if not self.keys.ready:
            reasons.append(f"Keys cannot be saved: {self.keys.trouble.rstrip('.')}.")
        if (open_intent := intents.open_scopes.holder(kind)) is not None:
            reasons.append(f"An earlier creation of this kind is not settled ({open_intent}).")
        if self._client.connection_status.down:
            reasons.append("The link to the exchange is down.")
        if self._client.server_clock.blocks_writes:
            reasons.append("This machine's clock is more than 5 s from the exchange's; set it.")
        if not self._permitted(kind):
            reasons.append("The key lacks the permission; grant it on the exchange's site.")
        elif not self.offers(kind):
            account_kind = (CREATION_RULES[kind].account_kind or "").replace("_", " ")
            reasons.append(f"This account is not a {account_kind}, as the exchange or the profile says.")
        return tuple(reasons)

    async def unsettled(self, kind: CreationKind) -> CreationStatus | None:
        """Return the unsettled creation of this kind, with what to do about it; None if there is none."""
        intent = next((intent for intent in await self._intents.not_settled() if intent.kind == kind), None)
        if intent is None:
            return None
        if intent.id in self._unsaved:
            return await self.keep(intent.id)
        details = intent.details
        sentence = f"{details.get('title', kind)}: {details.get('why', f'it is {intent.state}')}"
        return CreationStatus(intent.id, kind, intent.state, sentence, str(details.get("next", "")))

    async def create(self, request: CreationRequest) -> CreationStatus:
        """Write the intent and the passphrases, send once, and save the issued keys.

        Raises Withheld if a check, the journal or the key store prevents it; nothing was sent then.
        """
        kind = kind_of(request)
        if reasons := self.blocking_reasons(kind):
            raise Withheld(reasons)
        if kind in self._busy:
            raise Withheld(("This is being sent already.",))
        self._busy.add(kind)
        # In a task of its own: a creation is finished even if nobody waits for it any more.
        task = self._sending.begin(self._create(kind, request))
        task.add_done_callback(lambda _: self._busy.discard(kind))
        return await asyncio.shield(task)

    async def _create(self, kind: CreationKind, request: CreationRequest) -> CreationStatus:
        self._intents.note_key_owner(await current_owner(self._client))
        if self._intents.other_owner:
            raise Withheld((self._intents.other_owner,))
        intent, requested_keys = await self._begin(kind, request), requested_keys_of(request)
        try:
            names = await self.keys.reserve(intent, kind, requested_keys)
        except KeyStoreUnusable as problem:
            await self._intents.note(intent, State.WITHDRAWN, {"why": f"the new keys could not be saved: {problem}"})
            raise Withheld((f"The keys could not be saved. {problem}",)) from None
        attempt = _Attempt(intent, kind, request, requested_keys, names)
        try:
            reply = await self._send(attempt)
        except NotSent as problem:
            await self._intents.note(intent, State.WITHDRAWN, {"why": str(problem)})
            await self.keys.discard(names)
            why = problem.message or str(problem)
            raise Withheld((f"{why[:1].upper()}{why[1:]}.",)) from None
        except OutcomeUnknown as problem:
            if not problem.undecodable_rows:
                return await self._in_doubt(attempt, attempt.without_passphrases(str(problem)))
            reply = Reply((), undecodable_rows=problem.undecodable_rows)
        except ExchangeError as problem:
            return await self._refused(attempt, problem)
        return await self._answered(attempt, reply)

    async def _begin(self, kind: CreationKind, request: CreationRequest) -> str:
        intent = self._intents.new_id()
        try:
            details = {"title": title_of(request), "request": request.redacted()}
            await self._intents.begin(intent, kind, kind, details)
        except AlreadyOpen as problem:
            raise Withheld((f"An earlier creation of this kind is not settled ({problem}).",)) from None
        return intent

    async def _send(self, attempt: _Attempt) -> Reply[Any]:
        async def before_send(stamp_ms: int) -> None:
            await self._intents.about_to_send(attempt.intent, {"stamp_ms": stamp_ms, "vault": list(attempt.names)})

        return await self._client.write(attempt.request, before_send=before_send)

    async def _in_doubt(self, attempt: _Attempt, why: str) -> CreationStatus:
        remedy = what_to_do(attempt.kind, titles_of(attempt.request))
        await self._intents.note(attempt.intent, State.UNKNOWN, {"why": why, "next": remedy})
        unclear = "not known: it may have been created"
        rows = tuple(CreatedItem(title, unclear, good=None) for title in titles_of(attempt.request))
        return CreationStatus(attempt.intent, attempt.kind, State.UNKNOWN, why, remedy, rows)

    async def _refused(self, attempt: _Attempt, problem: ExchangeError) -> CreationStatus:
        explained = refusal_explained(problem.message) if attempt.kind is CreationKind.COPY_KEY else None
        # The explanation is shown below it.
        sentence = attempt.without_passphrases(problem.sentence if explained else str(problem))
        details = {"code": problem.code, "message": attempt.without_passphrases(problem.message)}
        details |= {"next": explained} if explained else {}
        await self._intents.note(attempt.intent, State.REJECTED, details)
        await self.keys.discard(attempt.names)
        return CreationStatus(attempt.intent, attempt.kind, State.REJECTED, sentence, explained or "")

    async def _answered(self, attempt: _Attempt, reply: Reply[Any]) -> CreationStatus:
        if isinstance(attempt.request, CreateSubaccountRequest):
            return await self._broker_created(attempt.intent, attempt.request.subaccount_name, reply.rows[0])
        issued_keys, others = match_issued_keys(attempt.requested_keys, reply.rows, reply.undecodable_rows)
        shown = [masked_secrets(row.received) for row in (*reply.rows, *reply.undecodable_rows)]
        self._unsaved[attempt.intent] = UnsavedKeys(
            attempt.kind, attempt.requested_keys, attempt.names, issued_keys, others, shown
        )
        return await self.keep(attempt.intent)

    async def _broker_created(self, intent: str, name: str, row: BrokerSubaccount) -> CreationStatus:
        outcome = f"created: UID {row.sub_uid}, {row.status or 'status not given'}"
        await self._intents.note(intent, State.ACKNOWLEDGED, {"reply": dict(row.received)})
        await self._intents.note(intent, State.SETTLED, {"outcome": outcome})
        item = CreatedItem(row.subaccount_name or name, outcome, good=True)
        sentence = "The sub-account was created."
        return CreationStatus(intent, CreationKind.BROKER_SUBACCOUNT, State.SETTLED, sentence, rows=(item,))

    async def keep(self, intent: str) -> CreationStatus:
        """Save the keys issued for an intent to disk, or try again; raises Withheld if none is unsaved."""
        unsaved = self._unsaved.get(intent)
        if unsaved is None:
            raise Withheld(("Everything that the exchange returned is saved already.",))
        try:
            await self.keys.save(unsaved, intent)
        except KeyStoreUnusable as problem:
            await self._acknowledge(intent, unsaved, {"kept": f"in memory only: {problem}"})
            sentence = f"Created, and NOT SAVED YET: {problem}"
            remedy = (
                "Do not quit. The key is in memory only and is shown once it is saved. Correct the problem, then try "
                "again."
            )
            rows = tuple(CreatedItem(key.title, "created, not saved yet", good=None) for key in unsaved.requested)
            return CreationStatus(intent, unsaved.kind, State.ACKNOWLEDGED, sentence, remedy, rows, kept=False)
        self._unsaved.pop(intent, None)
        await self._acknowledge(intent, unsaved, {"kept": self.keys.where})
        return await self._kept(intent, unsaved)

    async def _acknowledge(self, intent: str, unsaved: UnsavedKeys, details: Mapping[str, Any]) -> None:
        if not unsaved.acknowledged:
            unsaved.acknowledged = True
            await self._intents.note(intent, State.ACKNOWLEDGED, {"reply": unsaved.reply, **details})

    async def _kept(self, intent: str, unsaved: UnsavedKeys) -> CreationStatus:
        rows, missing = unsaved.rows(), unsaved.missing
        done = sum(row.good is True for row in rows)
        outcome = f"{done} of {len(unsaved.requested)} created with a key, kept in {self.keys.where}."
        if missing:
            remedy = what_to_do(unsaved.kind, missing)
            why = f"{outcome} The reply does not mention {', '.join(missing)}."
            await self._intents.note(intent, State.UNKNOWN, {"why": why, "next": remedy})
            return CreationStatus(intent, unsaved.kind, State.UNKNOWN, why, remedy, rows)
        details = {"outcome": outcome, "rows": [f"{row.title}: {row.sentence}" for row in rows]}
        await self._intents.note(intent, State.SETTLED, details)
        return CreationStatus(intent, unsaved.kind, State.SETTLED, outcome, rows=rows)

    @staticmethod
    def made(intent: Intent) -> bool:
        return intent.kind in tuple(CreationKind)

    async def release(self, intent: str, why: str) -> None:
        """Allow this kind again after the trader has looked on the exchange's site; deliberate, and journalled."""
        await self._intents.step(intent, State.RELEASED, {"why": why})
        details = (await self._intents.read(intent)).details
        await self.keys.discard(details.get("vault", ()))

    async def _take_up(self) -> None:
        if self._intents.trouble is not None:
            return
        for intent in await self._intents.not_settled():
            if self.made(intent):
                with suppress(WrongStep, sqlite3.Error, KeyStoreUnusable):
                    await self._take_up_one(await self._intents.once_left_behind(intent))

    async def _take_up_one(self, intent: Intent) -> None:
        kind, details = CreationKind(intent.kind), intent.details
        if intent.state is State.INTENDED:
            reason = {"why": "the program ended before it was sent"}
            await self._intents.step(intent.id, State.WITHDRAWN, reason, prior=State.INTENDED)
            await self.keys.discard([key.name for key in await self._keys_of(intent)])
            return
        if intent.state not in (State.SENT, State.ACKNOWLEDGED) or intent.id in self._unsaved:
            return
        names = details.get("vault", ())
        complete = {key.name for key in await self._keys_of(intent) if key.complete} == set(names)
        if intent.state is State.SENT and names and complete:
            outcome = f"{len(names)} of {len(names)} created with a key, found in {self.keys.where}"
            await self._intents.step(intent.id, State.ACKNOWLEDGED, {"kept": self.keys.where})
            await self._intents.step(intent.id, State.SETTLED, {"outcome": outcome})
        elif intent.state is State.ACKNOWLEDGED and (complete or kind is CreationKind.BROKER_SUBACCOUNT):
            await self._intents.step(intent.id, State.SETTLED, {"outcome": "created; the program ended then"})
        else:
            why = "the program ended before the exchange's reply was saved"
            remedy = what_to_do(kind, requested_names(details.get("request")))
            await self._intents.step(intent.id, State.UNKNOWN, {"why": why, "next": remedy})

    async def _keys_of(self, intent: Intent) -> list[StoredKey]:
        return [key for key in await self.keys.entries() if key.intent == intent.id]
