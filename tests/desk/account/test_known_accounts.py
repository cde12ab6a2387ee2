"""Whose account a key is stays known on a day when the exchange does not tell: its journal must lock all the same."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from tests.desk.account.test_identity import INFO, telling
from tests.desk.fixtures.desk_simulation import Simulation
from tests.desk.fixtures.scripted_exchange import ScriptedClient
from tradetui.desk.account.account_storage import AccountStorage, account_dir
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
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.product_types import ProductType

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


def storage_of(client: ScriptedClient, settings: DeskSettings) -> AccountStorage:
    return AccountStorage(client, settings, InlineDisk(), Random(7))  # type: ignore[arg-type]


async def known_to(client: ScriptedClient, data_dir: Path) -> AccountIdentity:
    return await asyncio.wait_for(storage_of(client, settings_in(data_dir)).identify(nothing, print), 5)


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
        storage = storage_of(telling(), settings)
        asking = asyncio.create_task(storage.identify(nothing, sentences.put_nowait))
        sentence = await asyncio.wait_for(sentences.get(), 5)
        assert reason in sentence and str(data_dir) in sentence and "data_dir" in sentence
        assert storage.trouble == sentence
        assert storage.identity is None
        asking.cancel()


async def test_whatever_goes_wrong_while_the_account_is_asked_for_is_said_and_asked_again(tmp_path: Path) -> None:
    client = telling()
    client.failing[INFO] = RuntimeError("nobody expects this")
    reasons: asyncio.Queue[str] = asyncio.Queue()
    storage = storage_of(client, settings_in(tmp_path))
    asking = asyncio.create_task(storage.identify(nothing, reasons.put_nowait))
    async with asyncio.timeout(120):
        assert "nobody expects this" in await reasons.get()
        del client.failing[INFO]
        assert (await asking).uid == "42"
    assert storage.trouble is None


async def test_a_step_that_fails_is_said_and_ends_nothing(tmp_path: Path) -> None:
    async def fails() -> None:
        raise RuntimeError("nobody expects this")

    storage = storage_of(telling(), settings_in(tmp_path))
    await storage.try_step(fails())
    assert storage.trouble == "RuntimeError: nobody expects this"


class Trading:
    """What may send, as the desk opens it: it notes what is opened, looked at and heard."""

    def __init__(self) -> None:
        self.journal_opened = asyncio.Event()
        self.owners: list[str | None] = []
        self.looks = 0
        self.contradiction = ""
        self.progress_listener: object = None
        lock = SimpleNamespace(hold=lambda: None)
        self.intents = SimpleNamespace(
            note_key_owner=self.owners.append, unsettled=tuple, shared=None, lock=lock, locked=False, trouble=None
        )
        self.execution = SimpleNamespace(ends_of=self.look)

    async def look_ahead(self, *_: object) -> None:
        """Nothing is open."""

    async def look(self, _: object) -> list[object]:
        self.looks += 1
        return []

    async def open(self, *_: object) -> None:
        self.journal_opened.set()

    async def stop(self) -> None:
        """Nothing is open."""


@pytest.mark.looptime
async def test_what_is_sent_waits_for_no_archive_that_is_being_checked(tmp_path: Path) -> None:
    simulation, trading, checked = Simulation(seed=1, fills=50, data_dir=tmp_path), Trading(), asyncio.Event()
    desk = simulation.desk

    async def open_archive() -> Archive:
        await checked.wait()
        return await AccountStorage.open_archive(desk.storage)

    desk._trading = trading  # type: ignore[assignment]
    desk.storage.open_archive = open_archive  # type: ignore[method-assign]
    desk.start()
    async with asyncio.timeout(120):
        await trading.journal_opened.wait()
    await asyncio.sleep(5)
    assert desk.archive is None
    checked.set()
    await asyncio.sleep(5)
    assert desk.archive is not None and desk.storage.trouble is None
    await desk.stop()


@pytest.mark.looptime
async def test_the_exchange_is_asked_every_minute_whose_the_key_is(tmp_path: Path) -> None:
    simulation, trading = Simulation(seed=1, fills=50, data_dir=tmp_path), Trading()
    simulation.desk._trading = trading  # type: ignore[assignment]
    simulation.desk.start()
    await asyncio.sleep(150)
    assert trading.owners == [simulation.uid] * 2
    assert trading.looks == 3, "what a session that was killed has not said is said by this one"
    await simulation.desk.stop()
