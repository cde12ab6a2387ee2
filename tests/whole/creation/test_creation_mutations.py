"""Mistakes in what keeps a creation safe, each made in a running program, and each found by the proofs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.desk.creation import test_key_store as key_store_proofs
from tests.whole.creation import test_creation as proofs
from tests.whole.injections.safety_mutations import post_retried
from tradetui.desk.creation import creation, key_store
from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.key_store import AccountKeys, KeyStore, UnsavedKeys
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.states import State, Withheld
from tradetui.exchange.errors import OutcomeUnknown, Rejected
from tradetui.storage.atomic_file import write_synced
from tradetui.wire.models.subaccounts import CreateCopyKeyRequest

pytestmark = pytest.mark.looptime
Patch = pytest.MonkeyPatch


def sent_before_it_is_written(patch: Patch) -> None:
    async def wrong(self: Intents, intent: str, details: Any) -> None:
        return None

    right = Creation._send

    async def send(self: Creation, attempt: Any) -> Any:
        reply = await right(self, attempt)
        (open_intent,) = await self._intents.not_settled()
        await self._intents.step(open_intent.id, State.SENT, {"stamp_ms": 1, "vault": []})
        return reply

    patch.setattr(Intents, "about_to_send", wrong)
    patch.setattr(Creation, "_send", send)


def lost_reply_read_as_refusal(patch: Patch) -> None:
    right = Creation._send

    async def wrong(self: Creation, attempt: Any) -> Any:
        try:
            return await right(self, attempt)
        except OutcomeUnknown as problem:
            raise Rejected(problem.message) from None

    patch.setattr(Creation, "_send", wrong)


def acknowledged_before_it_is_kept(patch: Patch) -> None:
    right = Creation.keep

    async def wrong(self: Creation, intent: str) -> Any:
        unsaved = self._unsaved[intent]
        await self._acknowledge(intent, unsaved, {"kept": self.keys.where})
        await self._intents.note(intent, State.SETTLED, {"outcome": "too early"})
        return await right(self, intent)

    patch.setattr(Creation, "keep", wrong)


def not_kept_at_all(patch: Patch) -> None:
    patch.setattr(UnsavedKeys, "save", lambda self, key_store, intent, at_ms: None)


def what_is_not_kept_forgotten(patch: Patch) -> None:
    right = Creation.keep

    async def wrong(self: Creation, intent: str) -> Any:
        done = await right(self, intent)
        self._unsaved.clear()
        return done

    patch.setattr(Creation, "keep", wrong)


def passphrase_journalled(patch: Patch) -> None:
    patch.setattr(CreateCopyKeyRequest, "redacted", CreateCopyKeyRequest.values)


def secret_journalled(patch: Patch) -> None:
    def shown(received: Any) -> dict[str, Any]:
        return {
            name: getattr(value, "get_secret_value", lambda value=value: value)() for name, value in received.items()
        }

    patch.setattr(creation, "masked_secrets", shown)


def lock_ignored(patch: Patch) -> None:
    async def wrong(self: Intents, intent: str, details: Any) -> None:
        await self.step(intent, State.SENT, details)

    patch.setattr(Intents, "about_to_send", wrong)


def passphrase_kept_after_sending(patch: Patch) -> None:
    right = key_store.KeyStore.reserve

    def wrong(self: key_store.KeyStore, intent: str, kind: str, title: str, passphrase: Any, at_ms: int) -> str:
        return right(self, intent, kind, title, type(passphrase)(""), at_ms)

    patch.setattr(key_store.KeyStore, "reserve", wrong)


def key_store_not_looked_at_before_sending(patch: Patch) -> None:
    async def wrong(self: AccountKeys, intent: str, kind: Any, requested_keys: Any) -> list[str]:
        return [key.title for key in requested_keys]

    patch.setattr(AccountKeys, "reserve", wrong)


def released_at_the_next_start(patch: Patch) -> None:
    right = Creation._take_up_one

    async def wrong(self: Creation, intent: Any) -> None:
        await right(self, intent)
        if (await self._intents.read(intent.id)).state is State.UNKNOWN:
            await self._intents.step(intent.id, State.RELEASED, {"why": "by itself"})

    patch.setattr(Creation, "_take_up_one", wrong)


def not_reported_read_as_not_created(patch: Patch) -> None:
    patch.setattr(UnsavedKeys, "missing", [])


async def _crash(folder: Path, patch: Patch) -> None:
    await proofs.test_whenever_the_machine_goes_down_the_next_start_accounts_for_it(folder, "copy", False)


async def _lost(folder: Path, patch: Patch) -> None:
    await proofs.test_a_lost_reply_is_in_doubt_said_and_never_sent_again(folder, "copy", "dropped-after")


async def _disk_full(folder: Path, patch: Patch) -> None:
    with pytest.MonkeyPatch.context() as another:
        await proofs.test_a_disk_that_fails_after_the_reply_loses_nothing(folder, another)


Proof = Callable[[Path, Patch], Awaitable[None]]
MISTAKES: dict[str, tuple[Callable[[Patch], None], Proof]] = {
    "sent before it is written": (sent_before_it_is_written, _crash),
    "the POST retried": (lambda patch: post_retried(patch.setattr), _lost),
    "a lost reply read as a refusal": (lost_reply_read_as_refusal, _lost),
    "settled before it is kept": (acknowledged_before_it_is_kept, _crash),
    "what was told not kept": (not_kept_at_all, lambda folder, _: proofs.test_what_was_kept_signs_requests(folder)),
    "what cannot be kept forgotten": (what_is_not_kept_forgotten, _disk_full),
    "the passphrase in the journal": (
        passphrase_journalled,
        lambda folder, _: proofs.test_no_secret_is_in_the_journal(folder, "copy"),
    ),
    "the secret in the journal": (
        secret_journalled,
        lambda folder, _: proofs.test_no_secret_is_in_the_journal(folder, "copy"),
    ),
    "LOCKED ignored": (
        lock_ignored,
        lambda folder, _: proofs.test_locked_by_another_process_at_the_last_moment_nothing_is_sent(folder),
    ),
    "the passphrase not on disk before it is sent": (
        passphrase_kept_after_sending,
        lambda folder, _: proofs.test_the_passphrase_is_on_disk_before_the_request_is_sent(folder),
    ),
    "sent though the vault cannot be written": (
        key_store_not_looked_at_before_sending,
        lambda folder, _: proofs.test_a_directory_that_cannot_be_written_stops_it_before_sending(folder),
    ),
    "in doubt no more after a restart": (released_at_the_next_start, _crash),
    "absence read as failure": (
        not_reported_read_as_not_created,
        lambda folder, _: proofs.test_some_may_fail_while_others_succeed(folder),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_the_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    mistake, proof = MISTAKES[name]
    mistake(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception, Withheld)):
        await proof(tmp_path, monkeypatch)


# The key store


def sync_left_out(patch: Patch) -> None:
    def wrong(file: Path, text: str, *, new: bool) -> None:
        file.touch(mode=0o600, exist_ok=not new)
        file.write_text(text, encoding="utf-8")

    patch.setattr(key_store, "write_synced", wrong)


def overwritten(patch: Patch) -> None:
    patch.setattr(KeyStore, "_temporary_file", KeyStore._file)


def names_overwritten(patch: Patch) -> None:
    right = write_synced
    patch.setattr(key_store, "write_synced", lambda file, text, *, new: right(file, text, new=False))


KEY_STORE_MISTAKES: dict[str, tuple[Callable[[Patch], None], Callable[[Path, Patch], None]]] = {
    "the sync left out": (
        sync_left_out,
        key_store_proofs.test_a_crash_at_any_step_leaves_the_old_state_or_the_new_one_and_the_next_start_finishes,
    ),
    "written in place": (
        overwritten,
        key_store_proofs.test_a_crash_at_any_step_leaves_the_old_state_or_the_new_one_and_the_next_start_finishes,
    ),
    "existing names overwritten": (
        names_overwritten,
        lambda folder, _: key_store_proofs.test_existing_names_are_not_overwritten(folder),
    ),
}


@pytest.mark.parametrize("name", KEY_STORE_MISTAKES)
def test_the_key_store_s_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    mistake, proof = KEY_STORE_MISTAKES[name]
    mistake(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        proof(tmp_path, monkeypatch)
