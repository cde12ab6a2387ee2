"""Whose account a key is stays known on a day when the exchange does not tell: its journal must lock all the same."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, ParamSpec, TypeVar

import pytest

from tests.desk.account.test_identity import INFO, telling
from tests.desk.fixtures.scripted_exchange import ScriptedClient
from tradetui.desk.account.account_storage import AccountStorage, account_dir, archive_file
from tradetui.desk.account.identity import (
    AccountIdentity,
    AccountKey,
    KnownAccounts,
    identify,
    identity_without_exchange,
)
from tradetui.desk.archive.database import Archive
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.errors import EndpointMissing
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.product_types import ProductType

P = ParamSpec("P")
T = TypeVar("T")
KEY = AccountKey("https://api.example.com", "live", "key-0e61")


def test_what_was_told_is_remembered_by_key_address_and_environment(tmp_path: Path) -> None:
    known = KnownAccounts(tmp_path)
    assert known.uid_of(KEY) is None
    known.remember(KEY, "4100000002")
    assert KnownAccounts(tmp_path).uid_of(KEY) == "4100000002"
    assert known.uid_of(KEY._replace(environment="demo")) is None
    assert known.uid_of(KEY._replace(key_stand_in="key-other")) is None
    (file,) = (tmp_path / "accounts").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_without_a_directory_nothing_is_kept() -> None:
    known = KnownAccounts(None)
    known.remember(KEY, "1")
    assert known.uid_of(KEY) is None


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_file_that_cannot_be_read_is_no_empty_one(tmp_path: Path, text: str) -> None:
    known = KnownAccounts(tmp_path)
    known.remember(KEY, "1")
    (tmp_path / "accounts" / "known.json").write_text(text)
    with pytest.raises(FileUnusable, match="Set uid in the profile"):
        known.uid_of(KEY)
    with pytest.raises(FileUnusable):
        known.remember(KEY, "1")


async def test_the_exchange_now_then_then_the_profile_then_the_key() -> None:
    client = ScriptedClient()
    client.failing[INFO] = EndpointMissing("no", code="40404")
    identity = await identify(client, KEY, "7", remembered="42")  # type: ignore[arg-type]
    assert (identity.uid, identity.origin, identity.known) == ("42", "remembered", True)
    known = await identify(telling(), KEY, "7", remembered="41")  # type: ignore[arg-type]
    assert (known.uid, known.origin) == ("42", "exchange")
    assert identity_without_exchange(KEY, None, "42").name == known.name
    assert identity_without_exchange(KEY, "42", None).origin == "profile"
    assert not identity_without_exchange(KEY, None, None).known


def settings_in(data_dir: Path) -> DeskSettings:
    return DeskSettings(
        name="main",
        environment=Environment.LIVE,
        product_types=(ProductType.USDT_FUTURES,),
        base_url=KEY.base_url,
        key_stand_in=KEY.key_stand_in,
        data_dir=data_dir,
    )


async def nothing(*_: object) -> None:
    """Nothing is shown or sent here."""


def storage_of(
    client: ScriptedClient, settings: DeskSettings, disk: Disk | None = None, **callbacks: Any
) -> AccountStorage:
    others = {"expected": nothing, "first_rows": nothing, "open_journal": nothing, "every_minute": nothing}
    plain = {"known": print, "troubled": print, "attach": (), "owner_seen": None}
    return AccountStorage(client, settings, disk or InlineDisk(), Random(7), **{**others, **plain, **callbacks})  # type: ignore[arg-type]


async def known_to(client: ScriptedClient, data_dir: Path) -> AccountIdentity:
    identities: list[AccountIdentity] = []
    storage = storage_of(client, settings_in(data_dir), known=identities.append)
    storage.start()
    assert storage._task is not None
    await asyncio.wait_for(storage._task, 5)
    await storage.stop()
    return identities[0]


async def test_the_next_session_finds_the_same_journal_though_the_exchange_tells_no_more(tmp_path: Path) -> None:
    known = await known_to(telling(), tmp_path)
    silent = ScriptedClient()
    silent.failing[INFO] = EndpointMissing("no", code="40404")
    later = await known_to(silent, tmp_path)
    assert (later.origin, later.name) == ("remembered", known.name)
    assert account_dir(tmp_path, later) == account_dir(tmp_path, known)


async def test_a_directory_that_takes_nothing_is_named_and_the_account_stays_unknown(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    for data_dir, reason in ((path, "it is not a directory"), (Path("/proc/nothing"), "cannot be written")):
        settings = DeskSettings(
            name="main", environment=Environment.LIVE, product_types=(ProductType.USDT_FUTURES,), data_dir=data_dir
        )
        sentences: asyncio.Queue[str] = asyncio.Queue()
        storage = storage_of(telling(), settings, troubled=sentences.put_nowait)
        storage.start()
        sentence = await asyncio.wait_for(sentences.get(), 5)
        assert reason in sentence and str(data_dir) in sentence and "data_dir" in sentence
        assert storage.trouble == sentence
        assert storage.identity is None
        await storage.stop()


async def test_whatever_goes_wrong_while_the_account_is_asked_for_is_said_and_asked_again(tmp_path: Path) -> None:
    client, settings = telling(), settings_in(tmp_path)
    client.failing[INFO] = RuntimeError("nobody expects this")
    reasons: asyncio.Queue[str] = asyncio.Queue()
    known: asyncio.Queue[AccountIdentity] = asyncio.Queue()

    async def fails(archive: Archive) -> None:
        raise RuntimeError("nor that")

    attached: asyncio.Queue[Archive] = asyncio.Queue()
    attach = [fails, attached.put]
    opened: asyncio.Queue[AccountIdentity] = asyncio.Queue()
    storage = storage_of(
        client,
        settings,
        known=known.put_nowait,
        troubled=reasons.put_nowait,
        open_journal=opened.put,
        attach=attach,
    )
    storage.start()
    async with asyncio.timeout(120):
        assert "nobody expects this" in await reasons.get()
        del client.failing[INFO]
        assert (await known.get()).uid == "42"
        await attached.get()
        assert (await opened.get()).uid == "42"
    assert storage.trouble is not None and "nor that" in storage.trouble
    await storage.stop()


async def test_what_is_sent_waits_for_no_archive_that_is_being_checked(tmp_path: Path) -> None:
    checked = asyncio.Event()

    class CheckingDisk(InlineDisk):
        async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
            if args == (archive_file(settings, account),):
                await checked.wait()
            return await super().run(work, *args, **kwargs)

    settings, account = settings_in(tmp_path), AccountIdentity(KEY.base_url, KEY.environment, "42", "exchange")
    journal_opened, attached = asyncio.Event(), asyncio.Event()

    async def open_journal(_: AccountIdentity) -> None:
        journal_opened.set()

    async def attach(_: Archive) -> None:
        attached.set()

    storage = storage_of(telling(), settings, CheckingDisk(), open_journal=open_journal, attach=[attach])
    storage.start()
    async with asyncio.timeout(120):
        await journal_opened.wait()
        assert not attached.is_set()
        checked.set()
        await attached.wait()
    assert storage.trouble is None
    await storage.stop()


@pytest.mark.looptime
async def test_the_exchange_is_asked_every_minute_whose_the_key_is(tmp_path: Path) -> None:
    owners: list[str | None] = []
    archives: list[Archive] = []
    client = telling()

    async def look(archive: Archive) -> None:
        archives.append(archive)

    storage = storage_of(client, settings_in(tmp_path), every_minute=look, owner_seen=owners.append)
    storage.start()
    await asyncio.sleep(61)
    client.failing[INFO] = EndpointMissing("no", code="40404")
    await asyncio.sleep(60)
    assert owners == ["42", None]
    assert archives == [storage.archive] * 2, "what a session that was killed has not said is said by this one"
    await storage.stop()
