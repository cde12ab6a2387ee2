"""The one way a sub-account or a key is created: journalled, sent once, and kept on disk before it is shown."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.creation.issued_keys import RequestedKey, covered, match_issued_keys, requested_keys_of
from tradetui.desk.creation.key_store import KeyStore, KeyStoreUnusable, SecretBackend, Secrets, StoredKey
from tradetui.desk.creation.kinds import (
    KINDS,
    CreatedItem,
    CreationKind,
    CreationRequest,
    CreationStatus,
    NotWritten,
    lock_key,
    title_of,
    titles_of,
    what_to_do,
)
from tradetui.desk.creation.unsaved_keys import UnsavedKeys
from tradetui.desk.intents.intents import Intents, Withheld
from tradetui.desk.intents.journal import AlreadyOpen, Intent, State, WrongStep
from tradetui.desk.reversal.pretrade_checks import LOCKED
from tradetui.desk.settings import DeskSettings
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError, NotSent, OutcomeUnknown
from tradetui.exchange.signed_call import BeforeSend
from tradetui.storage.disk_thread import Disk
from tradetui.wire.error_codes import refusal_explained
from tradetui.wire.models.broker import BrokerSubaccount, CreateSubaccountRequest
from tradetui.wire.models.spot import AccountInfo
from tradetui.wire.reply import Reply
from tradetui.wire.requests.request import Request

MakeProfile: TypeAlias = Callable[[str, StoredKey, Secrets, str], str]
"""Writes a profile of this name for a key of this account's UID, and returns its file; raises NotWritten."""
AUTHORITIES: Final[Mapping[CreationKind, str]] = {
    CreationKind.SUBACCOUNTS: "chow",
    CreationKind.BROKER_SUBACCOUNT: "chow",
    CreationKind.COPY_KEY: "ttow",
}
"""What the exchange calls the permission that each needs, where it tells a key's (GET /api/v2/spot/account/info)."""
GRACE_S: Final = 2.0
"""How long the end of a session waits for a reply under way: what it tells would be lost."""


class Creation:
    """Creates for one account. There is no such object in monitor mode, nor where the profile does not allow it."""

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
        """`make_profile` writes a profile of a key; it is None where there is no place for profiles."""
        #: Set once the account is known and its key store was looked at.
        self.opened = asyncio.Event()
        self._client = client
        self._settings = settings
        self._clock = clock
        self._intents = intents
        self._disk = disk
        self._secret_backend = secret_backend
        self._make_profile = make_profile
        self._uid = ""
        self._key_store: KeyStore | None = None
        self._trouble = "whose account this is is not known yet"
        self._copies: bool | None = None
        self._account_info: AccountInfo | None = None
        self._busy: set[CreationKind] = set()
        self._running: set[asyncio.Task[Any]] = set()
        self._unsaved: dict[str, UnsavedKeys] = {}

    @property
    def uid(self) -> str:
        """The account's UID; empty while nobody has told it."""
        return self._uid

    async def open(self, account: AccountIdentity, folder: Path | None) -> None:
        """Open the key store of the account, and take up every creation where the journal says it stands."""
        self._uid = account.uid if account.known else ""
        if account.info is not None:
            self._copies, self._account_info = account.info.is_copy_trader, account.info
        try:
            self._key_store = await self._disk.run(KeyStore, folder, self._secret_backend)
        except KeyStoreUnusable as problem:
            self._trouble = str(problem)
            self.opened.set()
            return
        self.opened.set()
        task = asyncio.create_task(self._take_up(), name="creations taken up")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        """End; a reply under way is waited for shortly, and what is not kept is tried once more."""
        sending = {task for task in self._running if task.get_name() == "creating"}
        if sending:
            await asyncio.wait(sending, timeout=GRACE_S)
        for intent in tuple(self._unsaved):
            with suppress(Withheld):
                await self.keep(intent)
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    # What stands against it

    @property
    def settings(self) -> DeskSettings:
        """The session's settings."""
        return self._settings

    @property
    def where(self) -> str:
        """Where keys are kept, in words."""
        return self._key_store.where if self._key_store is not None else "nowhere yet"

    @property
    def holds_unsaved(self) -> bool:
        """Whether something was told that is in memory only; the end of the session may lose it."""
        return bool(self._unsaved)

    def offers(self, kind: CreationKind) -> bool:
        """Whether the account may have this at all, as far as is known."""
        account_kind = self._settings.account_kind
        if not self._permitted(kind):
            return False
        if kind is CreationKind.COPY_KEY:
            return self._copies is not False and account_kind in (None, "copy_trader")
        return kind is not CreationKind.BROKER_SUBACCOUNT or account_kind in (None, "broker")

    def _permitted(self, kind: CreationKind) -> bool:
        return self._account_info is None or not self._account_info.lacks_all(AUTHORITIES[kind])

    @property
    def locked(self) -> bool:
        """Whether trading is locked: nothing can be created either."""
        return self._intents.locked

    def blocking_reasons(self, kind: CreationKind) -> tuple[str, ...]:
        """Every reason nothing can be sent now, in sentences; empty where it may be."""
        intents, reasons = self._intents, []
        if intents.locked_by_hand:
            reasons.append(LOCKED)
        if intents.trouble:
            reasons.append(f"The journal cannot be used: {intents.trouble}.")
        if self._key_store is None:
            reasons.append(f"Keys cannot be kept: {self._trouble.rstrip('.')}.")
        if (open_intent := intents.open_on(lock_key(kind))) is not None:
            reasons.append(f"An earlier creation of this kind is not settled ({open_intent}).")
        if self._client.link.down:
            reasons.append("The link to the exchange is down.")
        if self._client.link.clock_blocks:
            reasons.append("This machine's clock is more than 5 s from the exchange's; set it.")
        if not self._permitted(kind):
            reasons.append("The key has not the permission; the exchange's site gives it.")
        elif not self.offers(kind):
            wanted = "copy trader" if kind is CreationKind.COPY_KEY else "broker"
            reasons.append(f"This account is no {wanted}, as the exchange or the profile says.")
        return tuple(reasons)

    async def unsettled(self, kind: CreationKind) -> CreationStatus | None:
        """The creation of this kind that is not settled, with what to do about it; None where all are."""
        open_intents = [candidate for candidate in await self._intents.not_settled() if candidate.kind == kind]
        if not open_intents:
            return None
        intent = open_intents[0]
        details = intent.details
        if intent.id in self._unsaved:
            return await self.keep(intent.id)
        sentence = f"{details.get('title', kind)}: {details.get('why', f'it is {intent.state}')}"
        return CreationStatus(intent.id, kind, intent.state, sentence, str(details.get("next", "")))

    # Sending

    async def create(self, request: CreationRequest) -> CreationStatus:
        """Write the intent and the passphrases, send once, and keep what is told.

        Raises:
            Withheld: a guard, the journal or the key store; nothing was sent.
        """
        kind = KINDS[type(request)]
        if reasons := self.blocking_reasons(kind):
            raise Withheld(reasons)
        if kind in self._busy:
            raise Withheld(("This is being sent already.",))
        self._busy.add(kind)
        # A task of its own: what was begun is brought to its end even if nobody waits for it any more.
        task = asyncio.create_task(self._create(kind, request), name="creating")
        self._running.add(task)
        task.add_done_callback(lambda done: self._done(kind, done))
        return await asyncio.shield(task)

    def _done(self, kind: CreationKind, task: asyncio.Task[CreationStatus]) -> None:
        self._busy.discard(kind)
        self._running.discard(task)
        if not task.cancelled():
            task.exception()

    async def _create(self, kind: CreationKind, request: CreationRequest) -> CreationStatus:
        requested_keys = () if isinstance(request, CreateSubaccountRequest) else requested_keys_of(request)
        intent = await self._begin(kind, request)
        try:
            names = await self._reserve(intent, kind, requested_keys)
        except KeyStoreUnusable as problem:
            await self._intents.note(intent, State.WITHDRAWN, {"why": f"the vault cannot be written: {problem}"})
            raise Withheld((f"Nothing was sent: keys could not be kept. {problem}",)) from None
        try:
            sendable: Request[Any] = request
            reply = await self._client.write(sendable, before_send=self._before_send(intent, names))
        except NotSent as problem:
            await self._intents.note(intent, State.WITHDRAWN, {"why": str(problem)})
            await self._discard(names)
            raise Withheld((f"Nothing was sent: {problem.message or problem}.",)) from None
        except OutcomeUnknown as problem:
            if not problem.undecodable_rows:
                return await self._in_doubt(intent, kind, request, _clean(str(problem), requested_keys))
            reply = Reply((), undecodable_rows=problem.undecodable_rows)
        except ExchangeError as problem:
            return await self._refused(intent, kind, names, requested_keys, problem)
        return await self._answered(intent, kind, request, requested_keys, names, reply)

    async def _begin(self, kind: CreationKind, request: CreationRequest) -> str:
        intent = self._intents.new_id()
        try:
            details = {"title": title_of(request), "request": request.redacted()}
            await self._intents.begin(intent, lock_key(kind), kind, details)
        except AlreadyOpen as problem:
            raise Withheld((f"An earlier creation of this kind is not settled ({problem}).",)) from None
        return intent

    async def _reserve(self, intent: str, kind: CreationKind, requested_keys: Sequence[RequestedKey]) -> list[str]:
        key_store, names = self._ready_key_store(), list[str]()
        try:
            for requested_key in requested_keys:
                name = await self._disk.run(
                    key_store.reserve,
                    intent,
                    kind,
                    requested_key.title,
                    requested_key.passphrase,
                    self._clock.wall_ms(),
                )
                names.append(name)
        except KeyStoreUnusable:
            await self._discard(names)
            raise
        return names

    def _before_send(self, intent: str, names: Sequence[str]) -> BeforeSend:
        async def before_send(stamp_ms: int) -> None:
            await self._intents.about_to_send(intent, {"stamp_ms": stamp_ms, "vault": list(names)})

        return before_send

    # What came of it

    async def _in_doubt(self, intent: str, kind: CreationKind, request: CreationRequest, why: str) -> CreationStatus:
        remedy = what_to_do(kind, title_of(request))
        await self._intents.note(intent, State.UNKNOWN, {"why": why, "next": remedy})
        rows = tuple(CreatedItem(title, "not known: it may have been created", None) for title in titles_of(request))
        return CreationStatus(intent, kind, State.UNKNOWN, why, remedy, rows)

    async def _refused(
        self,
        intent: str,
        kind: CreationKind,
        names: Sequence[str],
        requested_keys: Sequence[RequestedKey],
        problem: ExchangeError,
    ) -> CreationStatus:
        explained = refusal_explained(problem.message) if kind is CreationKind.COPY_KEY else None
        # What is explained stands under it by itself.
        sentence = _clean(problem.sentence if explained else str(problem), requested_keys)
        details = {"code": problem.code, "message": _clean(problem.message, requested_keys)}
        await self._intents.note(intent, State.REJECTED, {**details, **({"next": explained} if explained else {})})
        await self._discard(names)
        return CreationStatus(intent, kind, State.REJECTED, sentence, explained or "")

    async def _answered(
        self,
        intent: str,
        kind: CreationKind,
        request: CreationRequest,
        requested_keys: Sequence[RequestedKey],
        names: Sequence[str],
        reply: Reply[Any],
    ) -> CreationStatus:
        if isinstance(request, CreateSubaccountRequest):
            return await self._broker_created(intent, request, reply.rows)
        issued_keys, others = match_issued_keys(requested_keys, reply.rows, reply.undecodable_rows)
        shown = [covered(row.received) for row in (*reply.rows, *reply.undecodable_rows)]
        self._unsaved[intent] = UnsavedKeys(kind, requested_keys, names, issued_keys, others, shown)
        return await self.keep(intent)

    async def _broker_created(
        self, intent: str, request: CreateSubaccountRequest, rows: Sequence[object]
    ) -> CreationStatus:
        kind = CreationKind.BROKER_SUBACCOUNT
        row = rows[0]
        assert isinstance(row, BrokerSubaccount)
        outcome = f"created: uid {row.sub_uid}, {row.status or 'status not told'}"
        await self._intents.note(intent, State.ACKNOWLEDGED, {"reply": dict(row.received)})
        await self._intents.note(intent, State.SETTLED, {"outcome": outcome})
        made = CreatedItem(row.subaccount_name or request.subaccount_name, outcome, True)
        return CreationStatus(intent, kind, State.SETTLED, "The sub-account was created.", rows=(made,))

    async def keep(self, intent: str) -> CreationStatus:
        """Put what was told on disk, or try so again; raises Withheld where nothing waits for it."""
        unsaved = self._unsaved.get(intent)
        if unsaved is None:
            raise Withheld(("Everything that was told is kept already.",))
        try:
            await self._disk.run(unsaved.keep, self._ready_key_store(), intent, self._clock.wall_ms())
        except KeyStoreUnusable as problem:
            await self._acknowledge(intent, unsaved, {"kept": f"in memory only: {problem}"})
            sentence = f"Created, and NOT KEPT YET: {problem}"
            remedy = (
                "Do not quit. It is held in memory and not shown before it is on disk; try again when that is mended."
            )
            rows = tuple(
                CreatedItem(requested_key.title, "created, not kept yet", None) for requested_key in unsaved.requested
            )
            return CreationStatus(intent, unsaved.kind, State.ACKNOWLEDGED, sentence, remedy, rows, kept=False)
        self._unsaved.pop(intent, None)
        await self._acknowledge(intent, unsaved, {"kept": self.where})
        return await self._kept(intent, unsaved)

    async def _acknowledge(self, intent: str, unsaved: UnsavedKeys, details: Mapping[str, Any]) -> None:
        if not unsaved.acknowledged:
            unsaved.acknowledged = True
            await self._intents.note(intent, State.ACKNOWLEDGED, {"reply": unsaved.reply, **details})

    async def _kept(self, intent: str, unsaved: UnsavedKeys) -> CreationStatus:
        rows, missing = unsaved.rows(), ", ".join(unsaved.missing)
        done = sum(row.good is True for row in rows)
        outcome = f"{done} of {len(unsaved.requested)} created with a key, kept in {self.where}."
        if missing:
            remedy = what_to_do(unsaved.kind, missing)
            why = f"{outcome} The reply does not speak of {missing}."
            await self._intents.note(intent, State.UNKNOWN, {"why": why, "next": remedy})
            return CreationStatus(intent, unsaved.kind, State.UNKNOWN, why, remedy, rows)
        details = {"outcome": outcome, "rows": [f"{row.title}: {row.sentence}" for row in rows]}
        await self._intents.note(intent, State.SETTLED, details)
        return CreationStatus(intent, unsaved.kind, State.SETTLED, outcome, rows=rows)

    @staticmethod
    def made(intent: Intent) -> bool:
        """Whether an intent of the journal is a creation."""
        return intent.kind in tuple(CreationKind)

    async def release(self, intent: str, why: str) -> None:
        """Give this kind free again after one has looked on the exchange's site; deliberate, and journalled."""
        await self._intents.step(intent, State.RELEASED, {"why": why})
        details = (await self._intents.read(intent)).details
        await self._discard(details.get("vault", ()))

    # Keys given out

    async def entries(self) -> list[StoredKey]:
        """Every key in the key store; raises KeyStoreUnusable."""
        return await self._disk.run(self._ready_key_store().entries)

    async def secrets(self, name: str) -> Secrets:
        """The secrets of one, for who asks to see them; raises KeyStoreUnusable."""
        return await self._disk.run(self._ready_key_store().secrets, name)

    @property
    def makes_profiles(self) -> bool:
        """Whether a key can be made a profile of this program."""
        return self._make_profile is not None

    async def make_profile(self, name: str, entry: StoredKey) -> str:
        """Make a profile of a key and return its file; raises NotWritten or KeyStoreUnusable."""
        if self._make_profile is None:
            raise NotWritten("There is no place for profiles here.")
        if not entry.complete:
            raise NotWritten("Key, secret and passphrase are needed, and one of them is not there.")
        secrets = await self.secrets(entry.name)
        return await self._disk.run(self._make_profile, name, entry, secrets, self._uid)

    # After a restart

    async def _take_up(self) -> None:
        if self._intents.trouble is not None:
            return
        for intent in await self._intents.not_settled():
            if self.made(intent):
                with suppress(WrongStep, sqlite3.Error, KeyStoreUnusable):
                    await self._take_up_one(await self._intents.left_behind(intent))

    async def _take_up_one(self, intent: Intent) -> None:
        kind, details = CreationKind(intent.kind), intent.details
        if intent.state is State.INTENDED:
            await self._intents.step(intent.id, State.WITHDRAWN, {"why": "the program ended before it was sent"})
            await self._discard([entry.name for entry in await self.entries() if entry.intent == intent.id])
            return
        if intent.state not in (State.SENT, State.ACKNOWLEDGED) or intent.id in self._unsaved:
            return
        names = details.get("vault", ())
        complete_names = {entry.name for entry in await self.entries() if entry.intent == intent.id and entry.complete}
        if intent.state is State.SENT and names and complete_names == set(names):
            outcome = f"{len(names)} of {len(names)} created with a key, found in {self.where}"
            await self._intents.step(intent.id, State.ACKNOWLEDGED, {"kept": self.where})
            await self._intents.step(intent.id, State.SETTLED, {"outcome": outcome})
            return
        if intent.state is State.ACKNOWLEDGED and (
            kind is CreationKind.BROKER_SUBACCOUNT or complete_names == set(names)
        ):
            await self._intents.step(intent.id, State.SETTLED, {"outcome": "created; the program ended then"})
            return
        why = "the program ended before what the exchange answered was on disk"
        remedy = what_to_do(kind, str(details.get("title", "")))
        await self._intents.step(intent.id, State.UNKNOWN, {"why": why, "next": remedy})

    # Journal and key store

    def _ready_key_store(self) -> KeyStore:
        if self._key_store is None:
            raise KeyStoreUnusable(self._trouble)
        return self._key_store

    async def _discard(self, names: Sequence[str]) -> None:
        if self._key_store is None:
            return
        for name in names:
            # A passphrase without a key does no harm where it cannot be removed.
            with suppress(KeyStoreUnusable):
                await self._disk.run(self._key_store.discard, name)


def _clean(text: str, requested_keys: Sequence[RequestedKey]) -> str:
    """The text without the passphrases chosen, should the exchange repeat one."""
    for requested_key in requested_keys:
        text = text.replace(requested_key.passphrase.get_secret_value(), "***")
    return text
