"""The key store: nothing shown before it is synced, nothing overwritten, nothing lost in a crash at any step."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from tradetui.desk.creation.key_store import IssuedKey, KeyStore, KeyStoreUnusable, Secrets

PASSPHRASE, SECRET = SecretStr("Passphrase1"), SecretStr("canary-secret")
ISSUED_KEY = IssuedKey("bg_1", SECRET, "42", "note", ("read",), ("10.0.0.1",), PASSPHRASE)


class PowerCut(BaseException):
    """The machine goes down; nothing after it runs."""


def reserved(key_store: KeyStore, title: str = "alphaone", at_ms: int = 1) -> str:
    return key_store.reserve("i1", "create-subaccounts", title, PASSPHRASE, at_ms)


def test_a_key_is_reserved_given_listed_and_read(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path / "vault")
    name = reserved(key_store)
    (entry,) = key_store.entries()
    assert (entry.name, entry.issued, entry.complete, entry.intent) == ("alphaone", False, False, "i1")
    assert key_store.secrets(name) == Secrets(None, None, PASSPHRASE)
    key_store.store(name, ISSUED_KEY)
    (entry,) = KeyStore(tmp_path / "vault").entries()
    assert (entry.issued, entry.complete, entry.uid, entry.label) == (True, True, "42", "note")
    assert (entry.permissions, entry.addresses) == (("read",), ("10.0.0.1",))
    assert entry.file == tmp_path / "vault" / "alphaone.toml"
    assert key_store.secrets(name) == Secrets(SecretStr("bg_1"), SECRET, PASSPHRASE)
    assert "canary" not in repr(entry) + repr(key_store.secrets(name)) + repr(ISSUED_KEY)


def test_files_and_directory_are_their_owner_s_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        key_store = KeyStore(tmp_path / "deep" / "vault")
        key_store.store(reserved(key_store), ISSUED_KEY)
    finally:
        os.umask(before)
    (file,) = (tmp_path / "deep" / "vault").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_existing_names_are_not_overwritten(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path)
    (tmp_path / "alphaone.toml").write_text("somebody's own")
    names = [reserved(key_store) for _ in range(3)]
    assert names == ["alphaone-2", "alphaone-3", "alphaone-4"]
    for name in names:
        key_store.store(name, ISSUED_KEY)
    assert (tmp_path / "alphaone.toml").read_text() == "somebody's own"
    assert next(entry for entry in key_store.entries() if entry.name == "alphaone").complete is False


@pytest.mark.parametrize("title", ["../../up", "a b/c", "", "ä" * 60, ".hidden", "new@desk.example"])
def test_a_name_stays_in_the_directory(tmp_path: Path, title: str) -> None:
    key_store = KeyStore(tmp_path / "vault")
    name = reserved(key_store, title)
    assert [file.stem for file in (tmp_path / "vault").iterdir()] == [name]
    assert 1 <= len(name) <= 32
    assert key_store.entries()[0].title == title


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / ".alphaone.toml.new").symlink_to(other)
    with pytest.raises(KeyStoreUnusable):
        reserved(KeyStore(tmp_path / "vault"))
    assert other.read_text() == ""


def test_a_name_is_given_free_only_where_no_key_was_told(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path)
    key_store.discard([reserved(key_store)])
    assert list(tmp_path.iterdir()) == []
    name = reserved(key_store)
    key_store.store(name, ISSUED_KEY)
    key_store.discard([name])
    assert key_store.secrets(name).secret == SECRET


def test_newest_first_and_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path)
    for title, at_ms in (("old", 1), ("new", 3), ("mid", 2)):
        reserved(key_store, title, at_ms)
    (tmp_path / "torn.toml").write_text("api_key = 'x")
    (tmp_path / "torn.toml").chmod(0o600)
    assert [entry.name for entry in key_store.entries()] == ["new", "mid", "old", "torn"]
    with pytest.raises(KeyStoreUnusable, match=r"torn\.toml cannot be read"):
        key_store.secrets("torn")


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    key_store = KeyStore(blocked / "vault")
    assert key_store.entries() == []
    with pytest.raises(KeyStoreUnusable, match="cannot be used"):
        reserved(key_store)
    with pytest.raises(KeyStoreUnusable):
        reserved(KeyStore(blocked))


def test_a_directory_made_read_only_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key_store = KeyStore(tmp_path)
    name = reserved(key_store)
    real = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(KeyStoreUnusable, match="Permission denied"):
        key_store.store(name, ISSUED_KEY)
    with pytest.raises(KeyStoreUnusable, match="Permission denied"):
        reserved(key_store, "betatwos")
    monkeypatch.undo()
    key_store.store(name, ISSUED_KEY)
    assert key_store.secrets(name).secret == SECRET


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
    whole = KeyStore(tmp_path / "whole")
    first = reserved(whole)
    everything = steps_of(lambda: whole.store(first, ISSUED_KEY), monkeypatch, 99)
    assert everything == ["open", "fchmod", "fsync", "replace", "open", "fsync"], "synced, replaced, directory synced"
    for stop in range(len(everything) + 1):
        folder = tmp_path / str(stop)
        key_store = KeyStore(folder)
        name = reserved(key_store)
        steps = steps_of(lambda key_store=key_store, name=name: key_store.store(name, ISSUED_KEY), monkeypatch, stop)  # type: ignore[misc]
        assert tomllib.loads((folder / "alphaone.toml").read_text())["complete"] is True, "never torn in its place"
        again = KeyStore(folder)
        secrets = again.secrets(name)
        assert secrets.passphrase == PASSPHRASE
        if "fsync" in steps:
            assert secrets.secret == SECRET, "what was synced is there after the next start"
        if "open" not in steps:
            assert secrets.secret is None
        again.store(name, ISSUED_KEY)
        assert again.secrets(name).secret == SECRET
        assert [file.name for file in folder.iterdir()] == ["alphaone.toml"]


def test_torn_text_beside_a_file_is_not_put_in_its_place(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path)
    name = reserved(key_store)
    for torn in ('api_key = "bg_1"\nsecret = "cut o', 'api_key = "bg_1"\nsecret = "cut"\n', ""):
        (tmp_path / ".alphaone.toml.new").write_text(torn)
        assert KeyStore(tmp_path).secrets(name) == Secrets(None, None, PASSPHRASE)


def test_a_profile_names_no_file_that_ends_with_the_session(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path, is_temporary=True)
    key_store.store(reserved(key_store), ISSUED_KEY)
    (entry,) = key_store.entries()
    assert (entry.file, entry.location) == (None, key_store.where)
    assert "until this session ends" in key_store.where


def test_a_file_that_others_may_read_is_refused_with_the_chmod_to_run(tmp_path: Path) -> None:
    key_store = KeyStore(tmp_path)
    name = reserved(key_store)
    key_store.store(name, ISSUED_KEY)
    file = tmp_path / "alphaone.toml"
    file.chmod(0o644)
    with pytest.raises(KeyStoreUnusable, match=rf"mode 0644. Run: chmod 600 {file}"):
        key_store.secrets(name)
    assert [entry.name for entry in key_store.entries()] == [name]
    file.chmod(0o600)
    assert key_store.secrets(name).secret == SECRET


HOSTILE = ('"quoted" \\ and\nbroken', "\x1b[31m\x00\x7f", "half \ud800", "'" * 3, "x" * 10_000, "ключ")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_any_text_from_the_exchange_is_kept(tmp_path: Path, text: str) -> None:
    key_store = KeyStore(tmp_path)
    name = reserved(key_store)
    key_store.store(name, IssuedKey("bg_1", SecretStr("secret"), text, text, (text,), (text,), PASSPHRASE))
    (entry,) = key_store.entries()
    kept = text.replace("\ud800", "?")
    assert (entry.uid, entry.label, entry.permissions, entry.addresses) == (kept, kept, (kept,), (kept,))
    assert key_store.secrets(name).secret == SecretStr("secret")


# The system's keyring


class Box:
    """A keyring of this test."""

    where = "the system's keyring (tradetui)"

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, str]] = {}
        self.locked = False

    def put(self, name: str, secrets: object) -> None:
        if self.locked:
            raise KeyStoreUnusable("The system's keyring is locked. Unlock it.")
        self.kept[name] = dict(secrets)  # type: ignore[call-overload]

    def get(self, name: str) -> dict[str, str]:
        return self.kept[name]

    def drop(self, name: str) -> None:
        del self.kept[name]


def test_in_the_keyring_no_secret_is_in_a_file(tmp_path: Path) -> None:
    box = Box()
    key_store = KeyStore(tmp_path, box)
    name = reserved(key_store)
    assert key_store.secrets(name) == Secrets(None, None, PASSPHRASE)
    key_store.store(name, ISSUED_KEY)
    text = b"".join(file.read_bytes() for file in tmp_path.iterdir()).decode()
    assert "canary" not in text and PASSPHRASE.get_secret_value() not in text and "bg_1" not in text
    assert KeyStore(tmp_path, box).secrets(name) == Secrets(SecretStr("bg_1"), SECRET, PASSPHRASE)
    (entry,) = key_store.entries()
    assert (entry.complete, entry.file, entry.location) == (True, None, box.where)
    other = reserved(key_store)
    key_store.discard([other])
    assert set(box.kept) == {f"{name} i1"}


def test_a_locked_keyring_is_said_and_loses_nothing(tmp_path: Path) -> None:
    box = Box()
    key_store = KeyStore(tmp_path, box)
    name = reserved(key_store)
    box.locked = True
    with pytest.raises(KeyStoreUnusable, match="locked"):
        key_store.store(name, ISSUED_KEY)
    assert key_store.entries()[0].issued is False
    box.locked = False
    key_store.store(name, ISSUED_KEY)
    assert key_store.secrets(name).secret == SECRET


def test_secrets_in_a_keyring_that_cannot_be_had_are_not_taken_for_missing_ones(tmp_path: Path) -> None:
    box = Box()
    name = reserved(key_store := KeyStore(tmp_path, box))
    key_store.store(name, ISSUED_KEY)
    with pytest.raises(KeyStoreUnusable, match=r"in the system's keyring \(tradetui\)\. Open a profile"):
        KeyStore(tmp_path).secrets(name)
    box.kept[f"{name} i1"].clear()
    with pytest.raises(KeyStoreUnusable, match="does not have the secrets"):
        key_store.secrets(name)
