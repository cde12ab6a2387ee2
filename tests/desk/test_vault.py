"""The vault: nothing shown before it is synced, nothing overwritten, nothing lost in a crash at any step."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from tradetui.desk.creation.key_store import IssuedKey, Secrets, Vault, VaultUnusable

PASSPHRASE, SECRET = SecretStr("Passphrase1"), SecretStr("canary-secret")
TOLD = IssuedKey("bg_1", SECRET, PASSPHRASE, "42", "note", ("read",), ("10.0.0.1",))


class PowerCut(BaseException):
    """The machine goes down; nothing after it runs."""


def reserved(vault: Vault, title: str = "alphaone", at_ms: int = 1) -> str:
    return vault.reserve("i1", "create-subaccounts", title, PASSPHRASE, at_ms)


def test_a_key_is_reserved_given_listed_and_read(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "vault")
    name = reserved(vault)
    (asked,) = vault.entries()
    assert (asked.name, asked.issued, asked.complete, asked.intent) == ("alphaone", False, False, "i1")
    assert vault.secrets(name) == Secrets(None, None, PASSPHRASE)
    vault.give(name, TOLD)
    (entry,) = Vault(tmp_path / "vault").entries()
    assert (entry.issued, entry.complete, entry.uid, entry.label) == (True, True, "42", "note")
    assert (entry.permissions, entry.addresses) == (("read",), ("10.0.0.1",))
    assert entry.file == tmp_path / "vault" / "alphaone.toml"
    assert vault.secrets(name) == Secrets(SecretStr("bg_1"), SECRET, PASSPHRASE)
    assert "canary" not in repr(entry) + repr(vault.secrets(name)) + repr(TOLD)


def test_files_and_directory_are_their_owner_s_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        vault = Vault(tmp_path / "deep" / "vault")
        vault.give(reserved(vault), TOLD)
    finally:
        os.umask(before)
    (file,) = (tmp_path / "deep" / "vault").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_existing_names_are_not_overwritten(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    (tmp_path / "alphaone.toml").write_text("somebody's own")
    names = [reserved(vault) for _ in range(3)]
    assert names == ["alphaone-2", "alphaone-3", "alphaone-4"]
    for name in names:
        vault.give(name, TOLD)
    assert (tmp_path / "alphaone.toml").read_text() == "somebody's own"
    assert next(each for each in vault.entries() if each.name == "alphaone").complete is False


@pytest.mark.parametrize("title", ["../../up", "a b/c", "", "ä" * 60, ".hidden", "new@desk.example"])
def test_a_name_stays_in_the_directory(tmp_path: Path, title: str) -> None:
    vault = Vault(tmp_path / "vault")
    name = reserved(vault, title)
    assert [file.stem for file in (tmp_path / "vault").iterdir()] == [name]
    assert 1 <= len(name) <= 32
    assert vault.entries()[0].title == title


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".alphaone.toml.new").symlink_to(other)
    with pytest.raises(VaultUnusable):
        reserved(Vault(tmp_path / "vault"))
    assert other.read_text() == ""


def test_a_name_is_given_free_only_where_no_key_was_told(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.discard(reserved(vault))
    assert list(tmp_path.iterdir()) == []
    name = reserved(vault)
    vault.give(name, TOLD)
    vault.discard(name)
    assert vault.secrets(name).secret == SECRET


def test_newest_first_and_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    for title, at_ms in (("old", 1), ("new", 3), ("mid", 2)):
        reserved(vault, title, at_ms)
    (tmp_path / "torn.toml").write_text("api_key = 'x")
    (tmp_path / "torn.toml").chmod(0o600)
    assert [each.name for each in vault.entries()] == ["new", "mid", "old", "torn"]
    with pytest.raises(VaultUnusable, match=r"torn\.toml cannot be read"):
        vault.secrets("torn")


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    vault = Vault(blocked / "vault")
    assert vault.entries() == []
    with pytest.raises(VaultUnusable, match="cannot be used"):
        reserved(vault)
    with pytest.raises(VaultUnusable):
        reserved(Vault(blocked))


def test_a_directory_made_read_only_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault(tmp_path)
    name = reserved(vault)
    real = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(VaultUnusable, match="Permission denied"):
        vault.give(name, TOLD)
    with pytest.raises(VaultUnusable, match="Permission denied"):
        reserved(vault, "betatwos")
    monkeypatch.undo()
    vault.give(name, TOLD)
    assert vault.secrets(name).secret == SECRET


def steps_of(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch, stop_before: int) -> list[str]:
    """Run, going down before the disk is told so many things; what it was told until then."""
    done: list[str] = []

    def tapped(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*args: object, **kwargs: object) -> object:
            if len(done) == stop_before:
                raise PowerCut
            done.append(name)
            return real(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        for name in ("open", "fsync", "replace", "fchmod"):
            patched.setattr(os, name, tapped(name))
        try:
            work()
        except PowerCut:
            return done
    return done


def test_a_crash_at_any_step_leaves_the_old_state_or_the_new_one_and_the_next_start_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Vault(tmp_path / "whole")
    first = reserved(whole)
    everything = steps_of(lambda: whole.give(first, TOLD), monkeypatch, 99)
    assert everything == ["open", "fchmod", "fsync", "replace", "open", "fsync"], "synced, replaced, directory synced"
    for stop in range(len(everything) + 1):
        folder = tmp_path / str(stop)
        vault = Vault(folder)
        name = reserved(vault)
        told = steps_of(lambda vault=vault, name=name: vault.give(name, TOLD), monkeypatch, stop)  # type: ignore[misc]
        assert tomllib.loads((folder / "alphaone.toml").read_text())["complete"] is True, "never torn in its place"
        again = Vault(folder)
        secrets = again.secrets(name)
        assert secrets.passphrase == PASSPHRASE
        if "fsync" in told:
            assert secrets.secret == SECRET, "what was synced is there after the next start"
        if "open" not in told:
            assert secrets.secret is None
        again.give(name, TOLD)
        assert again.secrets(name).secret == SECRET
        assert [file.name for file in folder.iterdir()] == ["alphaone.toml"]


def test_torn_text_beside_a_file_is_not_put_in_its_place(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    name = reserved(vault)
    for torn in ('api_key = "bg_1"\nsecret = "cut o', 'api_key = "bg_1"\nsecret = "cut"\n', ""):
        (tmp_path / ".alphaone.toml.new").write_text(torn)
        assert Vault(tmp_path).secrets(name) == Secrets(None, None, PASSPHRASE)


def test_without_a_folder_nothing_outlives_the_session() -> None:
    vault = Vault(None)
    name = reserved(vault)
    assert reserved(vault) == "alphaone-2"
    vault.give(name, TOLD)
    assert vault.secrets(name).secret == SECRET
    assert (vault.entries()[0].file, "memory" in vault.where) == (None, True)
    vault.discard("alphaone-2")
    assert [each.name for each in vault.entries()] == [name]


def test_a_file_that_others_may_read_is_refused_with_the_chmod_to_run(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    name = reserved(vault)
    vault.give(name, TOLD)
    file = tmp_path / "alphaone.toml"
    file.chmod(0o644)
    with pytest.raises(VaultUnusable, match=rf"mode 0644. Run: chmod 600 {file}"):
        vault.secrets(name)
    assert [entry.name for entry in vault.entries()] == [name]
    file.chmod(0o600)
    assert vault.secrets(name).secret == SECRET


HOSTILE = ('"quoted" \\ and\nbroken', "\x1b[31m\x00\x7f", "half \ud800", "'" * 3, "x" * 10_000, "ключ")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_any_text_from_the_exchange_is_kept(tmp_path: Path, text: str) -> None:
    vault = Vault(tmp_path)
    name = reserved(vault)
    vault.give(name, IssuedKey("bg_1", SecretStr("secret"), PASSPHRASE, text, text, (text,), (text,)))
    (entry,) = vault.entries()
    kept = text.replace("\ud800", "?")
    assert (entry.uid, entry.label, entry.permissions, entry.addresses) == (kept, kept, (kept,), (kept,))
    assert vault.secrets(name).secret == SecretStr("secret")


# The system's keyring


class Box:
    """A keyring of this test."""

    where = "the system's keyring (tradetui)"

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, str]] = {}
        self.locked = False

    def put(self, name: str, secrets: object) -> None:
        if self.locked:
            raise VaultUnusable("The system's keyring is locked. Unlock it.")
        self.kept[name] = dict(secrets)  # type: ignore[call-overload]

    def get(self, name: str) -> dict[str, str]:
        return self.kept[name]

    def drop(self, name: str) -> None:
        del self.kept[name]


def test_in_the_keyring_no_secret_is_in_a_file(tmp_path: Path) -> None:
    box = Box()
    vault = Vault(tmp_path, box)
    name = reserved(vault)
    assert vault.secrets(name) == Secrets(None, None, PASSPHRASE)
    vault.give(name, TOLD)
    text = b"".join(file.read_bytes() for file in tmp_path.iterdir()).decode()
    assert "canary" not in text and PASSPHRASE.get_secret_value() not in text and "bg_1" not in text
    assert Vault(tmp_path, box).secrets(name) == Secrets(SecretStr("bg_1"), SECRET, PASSPHRASE)
    (entry,) = vault.entries()
    assert (entry.complete, entry.file, entry.location) == (True, None, box.where)
    other = reserved(vault)
    vault.discard(other)
    assert set(box.kept) == {f"{name} i1"}


def test_a_locked_keyring_is_said_and_loses_nothing(tmp_path: Path) -> None:
    box = Box()
    vault = Vault(tmp_path, box)
    name = reserved(vault)
    box.locked = True
    with pytest.raises(VaultUnusable, match="locked"):
        vault.give(name, TOLD)
    assert vault.entries()[0].issued is False
    box.locked = False
    vault.give(name, TOLD)
    assert vault.secrets(name).secret == SECRET
