"""Creating sub-accounts and keys: one POST, each step journalled, and no secret lost, shown early or written twice."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.exchange.scripted_exchange import ArrivedRequest, NoBudget, Say
from tests.whole.creation.creation_accounts import BATCH, BROKER, COPY, PASSPHRASE, Scene, batch, scene, session
from tradetui.desk.creation.key_store import KeyStoreUnusable
from tradetui.desk.creation.kinds import CreationKind, CreationRequest, CreationStatus
from tradetui.desk.intents.states import State, Withheld
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.credentials import Credentials
from tradetui.sandbox.app import SandboxOptions
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.models.subaccounts import CreateCopyKeyRequest, CreateSubaccountRequest

pytestmark = pytest.mark.looptime

S = State
NEW_BROKER_SUBACCOUNT = CreateSubaccountRequest(subaccount_name="new@desk.example", label="new")
COPY_KEY = CreateCopyKeyRequest(passphrase=SecretStr(PASSPHRASE))
CREATIONS: dict[str, tuple[str, CreationRequest, str]] = {
    "batch": ("hedge", batch("alphaone"), "subaccounts.create_batch"),
    "broker": ("broker", NEW_BROKER_SUBACCOUNT, "broker.create_subaccount"),
    "copy": ("copy-new", COPY_KEY, "copytrading.create_api_key"),
}
for_every_creation = pytest.mark.parametrize("which", CREATIONS)


async def test_a_batch_is_created_kept_and_settled(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        done = await on.creation.create(batch("alphaone", "betatwos"))
        assert (done.state, done.kept) == (S.SETTLED, True)
        assert [(row.title, row.good, row.entry) for row in done.rows] == [
            ("alphaone", True, "alphaone"),
            ("betatwos", True, "betatwos"),
        ]
        assert on.posts == 1
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
        for key in on.sandbox.exchange_state.keys[-2:]:
            file = tmp_path / "vault" / f"{key.name.partition('-')[0]}.toml"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            kept = tomllib.loads(file.read_text())
            assert (kept["api_key"], kept["secret"], kept["passphrase"]) == (key.api_key, key.secret, PASSPHRASE)
            assert kept["uid"] == key.uid
        assert stat.S_IMODE((tmp_path / "vault").stat().st_mode) == 0o700
        secrets = await on.creation.keys.secrets("betatwos")
        assert secrets.secret == SecretStr(on.sandbox.exchange_state.keys[-1].secret)


@pytest.mark.parametrize(("account", "requested"), [("hedge", batch("alphaone")), ("copy-new", COPY_KEY)])
async def test_the_journal_tells_a_key_by_its_ends_only(
    tmp_path: Path, account: str, requested: CreationRequest
) -> None:
    async with scene(tmp_path, account) as on:
        assert (await on.creation.create(requested)).state is S.SETTLED
        key = on.sandbox.exchange_state.keys[-1].api_key
        assert key.encode() not in on.journal_bytes()
        (row,) = on.journalled()[0].details["reply"]
        assert f"{key[:4]}…{key[-4:]}" in row.values()


async def test_what_was_kept_signs_requests(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        await on.creation.create(batch("alphaone"))
        kept = await on.creation.keys.secrets("alphaone")
        assert kept.api_key and kept.secret and kept.passphrase
        credentials = Credentials(kept.api_key.get_secret_value(), kept.secret, kept.passphrase)
        reader = ExchangeReader(credentials, app=on.sandbox, clock=on.client.clock, budget=NoBudget())
        reply = await reader.spot.fills()
        assert reply.rows == ()
        await reader.aclose()


async def test_a_copy_key_is_created_once_and_both_refusals_are_explained(tmp_path: Path) -> None:
    async with scene(tmp_path, "copy-new") as on:
        assert (await on.creation.create(COPY_KEY)).state is S.SETTLED
        again = await on.creation.create(COPY_KEY)
        assert again.state is S.REJECTED
        assert "You have already created a Copy API Key" in again.sentence
        assert "its secret is shown only once" in again.next
        assert on.steps() == [S.INTENDED, S.SENT, S.REJECTED]
        assert [file.name for file in on.files()] == ["copy-trading.toml"], "the refused one left nothing"
    async with scene(tmp_path / "old", "copy-old") as on:
        refused = await on.creation.create(COPY_KEY)
        assert "only applicable to the new Copy model" in refused.sentence
        assert "old model" in refused.next
        assert on.files() == []


async def test_a_broker_s_sub_account_needs_no_key_store(tmp_path: Path) -> None:
    async with scene(tmp_path, "broker") as on:
        done = await on.creation.create(NEW_BROKER_SUBACCOUNT)
        assert done.state is S.SETTLED
        assert [(row.title, row.good) for row in done.rows] == [("new@desk.example", True)]
        assert "UID 42" in done.rows[0].sentence
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
        assert not (tmp_path / "vault").exists()


async def test_a_unified_account_creates_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path, "unified") as on:
        await on.client.futures.accounts(product_type="USDT-FUTURES")
        with pytest.raises(Withheld, match="only read"):
            await on.creation.create(batch("brandnew"))
        assert on.posts == 0


@pytest.mark.parametrize(
    ("account", "requested", "code"),
    [
        ("at-limits", batch("brandnew"), "40069"),
        ("at-limits", batch("limiteda"), "40063"),
        ("at-limits", COPY_KEY, "already created"),
        ("managed", batch("brandnew"), "22010"),
        ("hedge", NEW_BROKER_SUBACCOUNT, "40029"),
        ("hedge", COPY_KEY, "40732"),
        ("read-only", batch("brandnew"), "40014"),
        ("broker", CreateSubaccountRequest(subaccount_name="desk1@broker.example"), "40107"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_refusals_are_sentences_and_leave_the_kind_free(
    tmp_path: Path, account: str, requested: CreationRequest, code: str
) -> None:
    async with scene(tmp_path, account) as on:
        done = await on.creation.create(requested)
        assert done.state is S.REJECTED
        assert code in done.sentence
        assert on.posts == 1
        assert on.steps()[-1] is S.REJECTED
        assert on.intents.unsettled() == ()
        assert not (tmp_path / "vault").exists() or on.files() == []


@for_every_creation
async def test_pressed_fifty_times_it_is_sent_once(tmp_path: Path, which: str) -> None:
    account, requested, _ = CREATIONS[which]
    async with scene(tmp_path, account) as on:
        results = await asyncio.gather(*(on.creation.create(requested) for _ in range(50)), return_exceptions=True)
        assert on.posts == 1
        assert sum(isinstance(result, CreationStatus) for result in results) == 1
        assert sum(isinstance(result, Withheld) for result in results) == 49


@for_every_creation
@pytest.mark.parametrize("fault", ["dropped-after", "dropped-before", "5xx", "truncated", "non-json", "delay"])
async def test_a_lost_reply_is_in_doubt_said_and_never_sent_again(tmp_path: Path, which: str, fault: str) -> None:
    account, requested, endpoint = CREATIONS[which]
    async with scene(tmp_path, account) as on:
        on.sandbox.options = SandboxOptions(seed=3, limits=False, delay_ms=60_000)
        on.sandbox.faults.plan(fault, endpoint=endpoint)
        done = await on.creation.create(requested)
        assert done.state is S.UNKNOWN
        assert "may exist" in done.next
        assert all(row.good is None for row in done.rows)
        (intent,) = on.journalled()
        assert intent.state is S.UNKNOWN
        assert intent.details["next"] == done.next
        await asyncio.sleep(120)
        arrived = 0 if fault == "dropped-before" else 1
        assert on.posts == arrived
        kind = CreationKind(intent.kind)
        assert any("not settled" in reason for reason in on.creation.blocking_reasons(kind))
        with pytest.raises(Withheld, match="not settled"):
            await on.creation.create(requested)
        assert on.posts == arrived
        unsettled = await on.creation.unsettled(kind)
        assert unsettled is not None
        assert unsettled.next == done.next
        await on.creation.release(intent.id, "looked: it is not there")
        assert not any("not settled" in reason for reason in on.creation.blocking_reasons(kind))
        assert on.journalled()[0].details["why"] == "looked: it is not there"
        assert not (tmp_path / "vault").exists() or on.files() == []


@for_every_creation
async def test_no_secret_is_in_the_journal(tmp_path: Path, which: str) -> None:
    account, requested, _ = CREATIONS[which]
    async with scene(tmp_path, account) as on:
        known = {key.secret for key in on.sandbox.exchange_state.keys}
        await on.creation.create(requested)
        fresh = {key.secret for key in on.sandbox.exchange_state.keys} - known
        text = on.journal_bytes()
        for secret in (PASSPHRASE, *fresh):
            assert secret.encode() not in text
        if which != "broker":
            assert fresh
            assert b"***" in text


async def test_the_passphrase_is_on_disk_before_the_request_is_sent(tmp_path: Path) -> None:
    seen_on_disk: list[dict[str, Any]] = []

    def answer(request: ArrivedRequest) -> Say:
        if request.method == "POST":
            seen_on_disk.extend(tomllib.loads(file.read_text()) for file in (tmp_path / "vault").glob("*.toml"))
        return Say(data=[])

    async with scene(tmp_path, script=answer) as on:
        await on.creation.create(batch("alphaone"))
        (posted,) = seen_on_disk
        assert posted["passphrase"] == PASSPHRASE
        assert "secret" not in posted
        assert on.posts == 1


# The key store cannot be written


async def test_a_directory_that_cannot_be_written_stops_it_before_sending(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        (tmp_path / "vault").write_text("a file where the directory should be")
        with pytest.raises(Withheld, match="could not be saved"):
            await on.creation.create(batch("alphaone"))
        assert on.posts == 0
        assert on.steps() == [S.INTENDED, S.WITHDRAWN]
        assert on.creation.blocking_reasons(CreationKind.SUBACCOUNTS) == ()


async def test_a_disk_that_fails_after_the_reply_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(tmp_path) as on:
        full(on, monkeypatch)
        done = await on.creation.create(batch("alphaone"))
        assert (done.state, done.kept) == (S.ACKNOWLEDGED, False)
        assert "NOT SAVED YET" in done.sentence and "No space left" in done.sentence
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED]
        assert on.intents.unsettled()
        assert (await on.creation.keys.secrets("alphaone")).secret is None, "what is not on disk is not shown"
        assert (await on.creation.keep(done.intent)).kept is False
        monkeypatch.undo()
        kept = await on.creation.keep(done.intent)
        assert (kept.state, kept.kept) == (S.SETTLED, True)
        assert (await on.creation.keys.secrets("alphaone")).secret == SecretStr(
            on.sandbox.exchange_state.keys[-1].secret
        )
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
        assert on.posts == 1


async def test_the_end_of_a_session_tries_once_more_to_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(tmp_path) as on:
        full(on, monkeypatch)
        await on.creation.create(batch("alphaone"))
        monkeypatch.undo()
    assert on.steps()[-1] is S.SETTLED
    assert tomllib.loads((tmp_path / "vault" / "alphaone.toml").read_text())["secret"]


async def test_the_end_of_a_session_waits_for_a_reply_under_way(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.sandbox.options = SandboxOptions(seed=3, limits=False, delay_ms=1_500)
        on.sandbox.faults.plan("delay", endpoint="subaccounts.create_batch")
        task = asyncio.ensure_future(on.creation.create(batch("alphaone")))
        await asyncio.sleep(0.5)
        task.cancel()
    assert on.steps()[-1] is S.SETTLED
    assert tomllib.loads((tmp_path / "vault" / "alphaone.toml").read_text())["complete"] is True


def full(on: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk be full for the second write of each file: the one that holds what the exchange told."""
    replace, counts = os.replace, dict[str, int]()

    def replacing(source: Path, target: Path) -> None:
        counts[str(target)] = counts.get(str(target), 0) + 1
        if counts[str(target)] > 1:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", replacing)


# After a crash


@for_every_creation
@pytest.mark.parametrize("state", [S.INTENDED, S.SENT, S.ACKNOWLEDGED])
async def test_a_restart_takes_up_where_the_journal_stands(tmp_path: Path, which: str, state: State) -> None:
    account, requested, _ = CREATIONS[which]
    async with scene(tmp_path, account) as on:
        kind = KIND_BY_NAME[which]
        details = {"title": which, "request": requested.redacted()}
        intent = on.intents.new_id()
        await on.intents.begin(intent, str(kind), kind, details)
        for step in (S.SENT, S.ACKNOWLEDGED)[: (S.INTENDED, S.SENT, S.ACKNOWLEDGED).index(state)]:
            await on.intents.step(intent, step, {"stamp_ms": 1, "vault": [] if which == "broker" else ["gone"]})
        async with session(tmp_path, on.client, on.client.clock, "again") as (creation, _):  # type: ignore[arg-type]
            await asyncio.sleep(40)
            expected = {S.INTENDED: S.WITHDRAWN, S.SENT: S.UNKNOWN, S.ACKNOWLEDGED: S.UNKNOWN}[state]
            if which == "broker" and state is S.ACKNOWLEDGED:
                expected = S.SETTLED
            assert on.steps()[-1] is expected
            if expected is S.UNKNOWN:
                unsettled = await creation.unsettled(kind)
                assert unsettled is not None and "may" in unsettled.next
        assert on.posts == 0


KIND_BY_NAME = {
    "batch": CreationKind.SUBACCOUNTS,
    "broker": CreationKind.BROKER_SUBACCOUNT,
    "copy": CreationKind.COPY_KEY,
}


async def test_a_crash_after_the_keys_are_on_disk_is_settled_by_what_is_there(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        real = on.intents.step

        async def dies(intent: str, state: State, details: Any, **named: Any) -> None:
            if state in (S.ACKNOWLEDGED, S.SETTLED):
                raise OSError(5, "the machine went down here")
            await real(intent, state, details, **named)

        on.intents.step = dies  # type: ignore[method-assign]
        done = await on.creation.create(batch("alphaone"))
        assert done.rows[0].good is True, "a journal that fails afterwards does not hide what was done"
        assert on.intents.trouble
        assert on.steps() == [S.INTENDED, S.SENT]
        async with session(tmp_path, on.client, on.client.clock, "again") as (creation, intents):  # type: ignore[arg-type]
            await asyncio.sleep(40)
            assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
            assert (await creation.keys.secrets("alphaone")).secret is not None
            await intents.refresh()
            assert creation.blocking_reasons(CreationKind.SUBACCOUNTS) == ()
        assert on.posts == 1


class PowerCut(BaseException):
    """The machine goes down."""


class DyingDisk(InlineDisk):
    """A disk of a machine that goes down before its n-th piece of work, or right after it, and stays down."""

    def __init__(self, at: int, *, done: bool) -> None:
        self.at = at
        self.done = done
        self.worked = 0

    async def run(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        self.worked += 1
        if self.worked > self.at or (self.worked == self.at and not self.done):
            raise PowerCut
        result = work(*args, **kwargs)
        if self.worked == self.at:
            raise PowerCut
        return result


async def crashed(on: Scene, requested: CreationRequest, at: int, *, done: bool) -> int:
    """Create until the machine goes down at so many pieces of work; how many there were."""
    disk = DyingDisk(10_000, done=False)
    clock = on.client.clock
    async with session(on.folder, on.client, clock, "first", disk) as (creation, _):  # type: ignore[arg-type]
        begun = disk.worked
        disk.at, disk.done = begun + at, done
        with suppress(PowerCut):
            await creation.create(requested)
        disk.at = begun + at
        worked = disk.worked - begun
        creation._unsaved.clear()  # memory is gone
    return worked


@for_every_creation
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_whenever_the_machine_goes_down_the_next_start_accounts_for_it(
    tmp_path: Path, which: str, done: bool
) -> None:
    account, requested, _ = CREATIONS[which]
    at, ends = 1, set[State]()
    while True:
        async with scene(tmp_path / str(at), account) as on:
            known = len(on.sandbox.exchange_state.keys)
            worked = await crashed(on, requested, at, done=done)
            async with session(on.folder, on.client, on.client.clock, "again") as (creation, intents):  # type: ignore[arg-type]
                await asyncio.sleep(70)
                await intents.refresh()
                journalled = on.journalled()
                assert on.posts <= 1
                assert len(journalled) <= 1
                end = journalled[0].state if journalled else S.WITHDRAWN
                ends.add(end)
                assert end in (S.WITHDRAWN, S.SETTLED, S.UNKNOWN), at
                assert on.posts == 0 or end is not S.WITHDRAWN, "what was sent is never called withdrawn"
                blocked = any("not settled" in reason for reason in creation.blocking_reasons(KIND_BY_NAME[which]))
                assert blocked is (end is S.UNKNOWN)
                if end is S.UNKNOWN:
                    assert "may" in journalled[0].details["next"]
                if which != "broker":
                    entries = [entry for entry in await creation.keys.entries() if entry.issued]
                    secrets = [(await creation.keys.secrets(entry.name)).secret for entry in entries]
                    made = [SecretStr(key.secret) for key in on.sandbox.exchange_state.keys[known:]]
                    assert secrets == (made if end is S.SETTLED else []), at
                for text in (PASSPHRASE, *(key.secret for key in on.sandbox.exchange_state.keys[known:])):
                    assert text.encode() not in on.journal_bytes()
        if worked < at:
            break
        at += 1
    assert at > 5
    assert ends == {S.WITHDRAWN, S.SETTLED, S.UNKNOWN}


@for_every_creation
async def test_no_secret_is_logged(tmp_path: Path, which: str, caplog: pytest.LogCaptureFixture) -> None:
    account, requested, endpoint = CREATIONS[which]
    caplog.set_level(logging.DEBUG)
    async with scene(tmp_path, account) as on:
        known = len(on.sandbox.exchange_state.keys)
        on.sandbox.faults.plan("429", endpoint=endpoint)
        await on.creation.create(requested)
        await asyncio.sleep(5)
        await on.creation.create(requested)
        made = on.sandbox.exchange_state.keys[known:]
        assert bool(made) is (which != "broker")
        for text in (PASSPHRASE, *(key.secret for key in made)):
            assert text not in caplog.text


async def test_what_another_process_is_sending_is_left_to_it(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.sandbox.options = SandboxOptions(seed=3, limits=False, delay_ms=8_000)
        on.sandbox.faults.plan("delay", endpoint="subaccounts.create_batch")
        task = asyncio.ensure_future(on.creation.create(batch("alphaone")))
        await asyncio.sleep(1)
        async with session(tmp_path, on.client, on.client.clock, "other") as (creation, _):  # type: ignore[arg-type]
            assert any("not settled" in reason for reason in creation.blocking_reasons(CreationKind.SUBACCOUNTS))
            with pytest.raises(Withheld):
                await creation.create(batch("betatwos"))
            assert (await task).state is S.SETTLED
            await asyncio.sleep(40)
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
        assert on.posts == 1


# Guards


async def test_locked_nothing_is_sent(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.intents.set_lock(True)
        with pytest.raises(Withheld, match="locked"):
            await on.creation.create(batch("alphaone"))
        assert (on.posts, on.journalled()) == (0, [])


async def test_locked_by_another_process_at_the_last_moment_nothing_is_sent(tmp_path: Path) -> None:
    from tradetui.desk.intents.journal.journal import Journal
    from tradetui.exchange.clock import Moment

    async with scene(tmp_path) as on:
        other = Journal(tmp_path / "journal.sqlite")
        other.set_trading_lock(True, Moment(1))
        with pytest.raises(Withheld, match="locked before it was sent"):
            await on.creation.create(batch("alphaone"))
        assert on.posts == 0
        assert on.steps() == [S.INTENDED, S.WITHDRAWN]
        assert on.files() == []


# Replies of every kind


async def test_some_may_fail_while_others_succeed(tmp_path: Path) -> None:
    rows = [
        {**row("betatwos"), "subAccountName": "be****os@virtual.example"},
        {"subAccountUid": "3", "subAccountName": "gammatri", "label": "note gammatri"},
    ]
    async with scene(tmp_path, script=says(rows)) as on:
        done = await on.creation.create(batch("alphaone", "betatwos", "gammatri"))
        assert [(row.title, row.good) for row in done.rows] == [
            ("alphaone", None),
            ("betatwos", True),
            ("gammatri", False),
        ]
        assert done.state is S.UNKNOWN
        assert "does not mention alphaone" in done.sentence
        assert "alphaone" in done.next and "betatwos" not in done.next
        assert (await on.creation.keys.secrets("betatwos")).secret == SecretStr("secret of betatwos")
        assert on.intents.unsettled()


async def test_a_row_that_cannot_be_read_still_gives_its_secret(tmp_path: Path) -> None:
    broken = {**row("alphaone"), "subAccountUid": None}
    async with scene(tmp_path, script=says([broken])) as on:
        done = await on.creation.create(batch("alphaone"))
        assert done.state is S.SETTLED
        assert (await on.creation.keys.secrets("alphaone")).secret == SecretStr("secret of alphaone")


@pytest.mark.parametrize(
    "changed",
    [
        {"label": "half \ud800 \x1b[2J", "subAccountName": "\u202ealphaone"},
        {"permList": 7, "ipList": {"a": 1}, "label": None},
        {"permList": "read,spot_trade", "subAccountUid": 12345678901234567890},
        {"more": "fields", "label": ["a", "list"]},
    ],
    ids=["hostile words", "wrong types", "text and numbers", "more fields"],
)
async def test_whatever_else_is_in_the_row_its_secret_is_kept(tmp_path: Path, changed: dict[str, Any]) -> None:
    async with scene(tmp_path, script=says([{**row("alphaone"), **changed}])) as on:
        done = await on.creation.create(batch("alphaone"))
        assert done.state is S.SETTLED
        assert (await on.creation.keys.secrets("alphaone")).secret == SecretStr("secret of alphaone")
        assert on.steps() == [S.INTENDED, S.SENT, S.ACKNOWLEDGED, S.SETTLED]
        assert on.intents.trouble is None


async def test_a_secret_that_is_a_number_is_kept_and_none_is_not_invented(tmp_path: Path) -> None:
    async with scene(tmp_path, script=says([{**row("alphaone"), "secretKey": 12345}])) as on:
        assert (await on.creation.create(batch("alphaone"))).rows[0].good is True
        assert (await on.creation.keys.secrets("alphaone")).secret == SecretStr("12345")
    for nothing in (None, ""):
        async with scene(tmp_path / repr(nothing), script=says([{**row("alphaone"), "secretKey": nothing}])) as on:
            assert (await on.creation.create(batch("alphaone"))).rows[0].good is False
            assert (await on.creation.keys.secrets("alphaone")).secret is None


async def test_a_key_nobody_asked_for_is_kept_too(tmp_path: Path) -> None:
    stranger = {**row("whatever"), "label": "?"}
    async with scene(tmp_path, script=says([row("alphaone"), stranger, {**stranger, "subAccountUid": "9"}])) as on:
        done = await on.creation.create(batch("alphaone"))
        assert [(row.title, row.good) for row in done.rows] == [("alphaone", True), ("?", None), ("?", None)]
        for name in ("not-asked-for", "not-asked-for-2"):
            assert (await on.creation.keys.secrets(name)).secret == SecretStr("secret of whatever")


async def test_an_exchange_that_repeats_the_passphrase_does_not_get_it_journalled(tmp_path: Path) -> None:
    say = Say(code="40017", msg=f"Parameter verification failed {PASSPHRASE}", status=400)
    async with scene(tmp_path, script=lambda request: say if request.method == "POST" else Say(data={})) as on:
        done = await on.creation.create(batch("alphaone"))
        assert done.state is S.REJECTED
        assert PASSPHRASE not in done.sentence
        assert PASSPHRASE.encode() not in on.journal_bytes()


def row(name: str) -> dict[str, Any]:
    return {
        "subAccountUid": "1",
        "subAccountName": name,
        "label": f"note {name}",
        "subAccountApiKey": f"bg_{name}",
        "secretKey": f"secret of {name}",
        "permList": ["read"],
        "ipList": [],
    }


def says(data: object) -> Any:
    return lambda request: Say(data=data if request.method == "POST" else {"serverTime": "1"})


async def test_entries_of_a_key_store_that_was_never_opened_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    async with scene(tmp_path) as on:
        on.creation.keys._key_store = None
        with pytest.raises(KeyStoreUnusable):
            await on.creation.keys.entries()
        with pytest.raises(Withheld, match="cannot be saved"):
            await on.creation.create(batch("alphaone"))


def test_the_paths_are_the_catalogue_s() -> None:
    from tradetui.wire.endpoints.catalogue import CATALOGUE

    names = ("subaccounts.create_batch", "broker.create_subaccount", "copytrading.create_api_key")
    assert [CATALOGUE[name].path for name in names] == [BATCH, BROKER, COPY]


async def test_a_key_of_another_account_creates_nothing_whatever_is_unlocked(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        on.intents.uid = "77"  # of which this session was started
        for _ in range(2):
            with pytest.raises(Withheld, match="this session was started for 77: nothing is sent"):
                await on.creation.create(batch("alphaone"))
            await on.intents.set_lock(False)
        assert on.creation.locked
        assert (on.posts, on.journalled()) == (0, [])
        await on.intents.set_lock(True)
        assert on.creation.blocking_reasons(CreationKind.SUBACCOUNTS) == (on.intents.other_owner,), "no key unlocks it"


async def test_a_key_that_becomes_another_accounts_while_a_creation_is_written_down_creates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(tmp_path) as on:
        on.intents.uid = on.sandbox.exchange_state.keys[0].uid
        reserve = on.creation.keys.reserve

        async def meanwhile(*args: Any) -> Any:
            on.intents.note_key_owner("77")
            return await reserve(*args)

        monkeypatch.setattr(on.creation.keys, "reserve", meanwhile)
        with pytest.raises(Withheld, match="belongs to UID 77"):
            await on.creation.create(batch("alphaone"))
        assert (on.posts, on.steps()) == (0, [S.INTENDED, S.WITHDRAWN])
