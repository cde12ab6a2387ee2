"""API keys you created: created over a real connection, listed by `journal`, made profiles that work at once."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import SecretStr

from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE
from tradetui.commands.session.issued_key_profiles import KeyringSecrets, ProfileMaker
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.session.profile_sessions import ProfileSessions
from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.key_store import (
    IssuedKey,
    KeyStore,
    KeyStoreUnusable,
    ProfileNotWritten,
    Secrets,
    StoredKey,
)
from tradetui.desk.creation.kinds import CreationKind, CreationRequest, CreationStatus
from tradetui.desk.desk import Desk
from tradetui.profiles.load import Flags, load
from tradetui.profiles.secrets import fetch_credentials
from tradetui.wire.models.subaccounts import CreateBatchRequest, CreateSubaccountRequest

PASSPHRASE, SECRET = "CanaryPass1", "canary-secret-value"
ONE: list[Any] = [{"sub_account_name": "fromtest", "passphrase": PASSPHRASE, "label": "made by a test"}]


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., Path]:
    def write(server: dict[str, Any], account: str = "isolated", **changed: Any) -> Path:
        key = next(profile for profile in server["profiles"] if profile["name"] == account)
        key_file = tmp_path / "key.toml"
        key_file.write_text("".join(f'{name} = "{key[name]}"\n' for name in ("api_key", "secret", "passphrase")))
        key_file.chmod(0o600)
        values = {"mode": "trade", "account_admin": True, "start_locked": False, **changed}
        lines = [f'base_url = "{server["base_url"]}"', f'data_dir = "{tmp_path / "data"}"']
        lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        lines += ["[profiles.main.credentials]", 'source = "file"', f'path = "{key_file}"']
        file = tmp_path / "config.toml"
        file.write_text("[profiles.main]\n" + "\n".join(lines) + "\n")
        return file

    return write


async def created(desk: Desk, request: CreationRequest) -> tuple[Creation, CreationStatus]:
    creation = desk.creation
    assert creation is not None
    desk.start()
    async with asyncio.timeout(120):
        await creation.opened.wait()  # the exchange has told whose account this is
    return creation, await creation.create(request)


def test_created_over_a_connection_then_listed_and_used(
    server: dict[str, Any],
    config: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRADETUI_RUNTIME_DIR", str(tmp_path / "run"))
    flags = Flags(config=config(server))
    loaded = load({"TRADETUI_RUNTIME_DIR": str(tmp_path / "run")}, flags)

    async def work() -> str:
        desk = choices[0].open_desk()
        try:
            creation, done = await created(desk, CreateBatchRequest(accounts=ONE))
            assert done.rows[0].good, done
            assert (await creation.create(CreateSubaccountRequest(subaccount_name="a@b.example"))).state == "rejected"
            (entry,) = await creation.keys.entries()
            return await creation.keys.make_profile("fromtest", entry)
        finally:
            await desk.stop()

    choices = ProfileSessions(OpenProfile(loaded), flags).choices
    assert [choice.name for choice in choices] == ["main"]
    made = Path(asyncio.run(work()))
    assert [choice.name for choice in choices] == ["main", "fromtest"], "P has it at once"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert f'data_dir = "{tmp_path / "data"}"' in made.read_text(), "its journal lies beside its parent's"
    assert PASSPHRASE not in made.read_text(), "the profile names the vault's file, it holds no secret"

    arguments = ["--config", str(flags.config)]
    assert main(["journal", *arguments, "--profile", "main"]) == DONE
    output = capsys.readouterr().out
    assert "settled      create sub-accounts with keys: fromtest  1 of 1 created" in output
    assert "rejected     create broker sub-account: a@b.example" in output
    assert main(["journal", "--json", *arguments, "--profile", "main"]) == DONE
    output = capsys.readouterr().out
    intents = json.loads(output)
    assert [intent["kind"] for intent in intents] == ["create-broker-subaccount", "create-subaccounts"]
    assert intents[1]["events"][0]["request"][0]["passphrase"] == "***"
    assert PASSPHRASE not in output
    assert main(["show", "spot-fills", "--json", *arguments, "--profile", "fromtest"]) == DONE
    assert json.loads(capsys.readouterr().out) == []


def test_a_lost_reply_is_in_the_journal_with_what_to_do(
    server: dict[str, Any],
    config: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRADETUI_RUNTIME_DIR", str(tmp_path / "run"))
    flags = Flags(config=config(server))
    loaded = load({"TRADETUI_RUNTIME_DIR": str(tmp_path / "run")}, flags)

    async def work() -> None:
        from tradetui.exchange.transport.http import HttpTransport
        from tradetui.exchange.transport.transport import (
            BeforeFirstByte,
            HttpRequest,
            TransportError,
            TransportErrorKind,
        )

        async def lost(
            self: HttpTransport, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None
        ) -> Any:
            answer = await send(self, request, before_first_byte)
            if request.writes:
                raise TransportError(TransportErrorKind.BROKEN, "the connection was closed before answering", sent=True)
            return answer

        send = HttpTransport.send
        monkeypatch.setattr(HttpTransport, "send", lost)
        desk = OpenProfile(loaded).desk(flags)
        try:
            rows: list[Any] = [{**ONE[0], "sub_account_name": "lostlost"}]
            _, done = await created(desk, CreateBatchRequest(accounts=rows))
            assert done.state == "unknown"
        finally:
            await desk.stop()
            monkeypatch.setattr(HttpTransport, "send", send)

    asyncio.run(work())
    assert main(["journal", "--config", str(flags.config)]) == ATTENTION
    lines = capsys.readouterr().out.splitlines()
    assert "unknown      create sub-accounts with keys: lostlost" in lines[0]
    assert "Keys may exist that tradetui never received" in lines[1]
    assert "delete the API keys there" in lines[1]


@pytest.mark.parametrize(
    ("changed", "flags"),
    [({"account_admin": False}, {}), ({"mode": "monitor"}, {}), ({}, {"read_only": True})],
    ids=["not an admin", "monitor", "--read-only"],
)
def test_without_leave_no_object_exists_that_could(
    server: dict[str, Any], config: Callable[..., Path], changed: dict[str, Any], flags: dict[str, Any], tmp_path: Path
) -> None:
    flags_with_config = Flags(config=config(server, **changed), **flags)

    async def work() -> None:
        desk = OpenProfile(load({"TRADETUI_RUNTIME_DIR": str(tmp_path / "run")}, flags_with_config)).desk(
            flags_with_config
        )
        assert desk.creation is None
        assert not hasattr(desk.client, "subaccounts") and not hasattr(desk.client, "copytrading")
        assert not hasattr(desk.client.broker, "create_subaccount")
        await desk.stop()

    asyncio.run(work())


# Profiles


SECRETS = Secrets(SecretStr("bg_1"), SecretStr(SECRET), SecretStr(PASSPHRASE))


@pytest.fixture
def maker(server: dict[str, Any], config: Callable[..., Path]) -> ProfileMaker:
    flags = Flags(config=config(server))
    return ProfileMaker(load({}, flags), flags)


def kept(tmp_path: Path, kind: str = CreationKind.SUBACCOUNTS, uid: str = "42") -> StoredKey:
    key_store = KeyStore(tmp_path / "vault")
    name = key_store.reserve("i1", kind, "fromtest", SecretStr(PASSPHRASE), 1)
    key_store.store(name, IssuedKey("bg_1", SecretStr(SECRET), uid, passphrase=SecretStr(PASSPHRASE)))
    return next(entry for entry in key_store.entries() if entry.name == name)


def test_a_profile_of_a_key_reads_only_and_finds_its_secrets_in_the_key_store(
    tmp_path: Path, maker: ProfileMaker
) -> None:
    maker("fromtest", kept(tmp_path), SECRETS, "1")
    loaded = load({}, Flags(config=tmp_path / "config.toml", profile="fromtest"))
    assert load({}, Flags(config=tmp_path / "config.toml")).name == "main", "the only one before stays the default"
    assert (loaded.read_only, loaded.profile.uid, loaded.profile.account_admin) == (True, "42", False)
    assert fetch_credentials(loaded).secret.get_secret_value() == SECRET


def test_a_copy_key_s_profile_is_of_the_same_account(tmp_path: Path, maker: ProfileMaker) -> None:
    maker("copying", kept(tmp_path, CreationKind.COPY_KEY, ""), SECRETS, "1")
    profile = load({}, Flags(config=tmp_path / "config.toml", profile="copying")).profile
    assert (profile.uid, profile.account_kind) == ("1", "copy_trader")


@pytest.mark.parametrize(("name", "reason"), [("main", "already"), ("../up", "letters"), ("", "letters")])
def test_a_name_that_is_taken_or_none_is_refused(tmp_path: Path, maker: ProfileMaker, name: str, reason: str) -> None:
    with pytest.raises(ProfileNotWritten, match=reason):
        maker(name, kept(tmp_path), SECRETS, "1")
    assert not (tmp_path / "profiles.d").exists()


def test_an_existing_profile_is_not_overwritten(tmp_path: Path, maker: ProfileMaker) -> None:
    file = Path(maker("fromtest", kept(tmp_path), SECRETS, "1"))
    before = file.read_text()
    with pytest.raises(ProfileNotWritten, match="already"):
        maker("fromtest", replace(kept(tmp_path), uid="43"), SECRETS, "1")
    assert file.read_text() == before


# The system's keyring


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring in memory in the place of the system's, by the same calls."""
    kept: dict[tuple[str, str], str] = {}
    module, errors = ModuleType("keyring"), ModuleType("keyring.errors")

    class KeyringError(Exception):
        pass

    def set_password(service: str, user: str, text: str) -> None:
        if service == "locked":
            raise KeyringError
        kept[service, user] = text

    errors.KeyringError = KeyringError  # type: ignore[attr-defined]
    module.errors = errors  # type: ignore[attr-defined]
    module.get_password = lambda service, user: kept.get((service, user))  # type: ignore[attr-defined]
    module.set_password = set_password  # type: ignore[attr-defined]
    module.delete_password = lambda service, user: kept.pop((service, user))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return kept


def test_secrets_in_the_keyring_make_a_profile_that_reads_the_keyring(
    tmp_path: Path, maker: ProfileMaker, keyring: dict[tuple[str, str], str]
) -> None:
    key_store = KeyStore(tmp_path / "vault", KeyringSecrets("tradetui"))
    name = key_store.reserve("i1", CreationKind.SUBACCOUNTS, "fromtest", SecretStr(PASSPHRASE), 1)
    key_store.store(name, IssuedKey("bg_1", SecretStr(SECRET), "42", passphrase=SecretStr(PASSPHRASE)))
    assert SECRET not in (tmp_path / "vault" / "fromtest.toml").read_text()
    (entry,) = key_store.entries()
    maker("fromtest", entry, key_store.secrets(name), "1")
    loaded = load({}, Flags(config=tmp_path / "config.toml", profile="fromtest"))
    assert fetch_credentials(loaded).secret.get_secret_value() == SECRET
    assert set(keyring) == {("tradetui", "vault fromtest i1"), ("tradetui", "fromtest")}
    keyring["tradetui", "other"] = "somebody's own"
    with pytest.raises(ProfileNotWritten, match="already"):
        maker("other", entry, key_store.secrets(name), "1")
    assert keyring["tradetui", "other"] == "somebody's own"


@pytest.mark.parametrize("text", ["{oops", "[]"])
def test_an_entry_of_the_keyring_that_is_no_key_is_said(keyring: dict[tuple[str, str], str], text: str) -> None:
    keyring["tradetui", "vault x"] = text
    with pytest.raises(KeyStoreUnusable, match="must give a JSON object"):
        KeyringSecrets("tradetui").get("x")


def test_a_keyring_that_is_locked_or_missing_is_said(
    keyring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyStoreUnusable, match="locked"):
        KeyringSecrets("locked").put("x", {"secret": SECRET})
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(KeyStoreUnusable, match="pip install"):
        KeyringSecrets("tradetui").get("x")
