"""What is kept on this machine is open to its owner alone, whatever the umask and whatever was there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tradetui.storage.private_directory import close_to_others, make_private_directory

OWN = ("accounts", "state.toml")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_every_directory_that_is_made_is_private(tmp_path: Path, umask: int) -> None:
    directory = tmp_path / "data" / "accounts" / "main"
    make_private_directory(directory)
    make_private_directory(directory)
    for path in (directory, directory.parent, directory.parent.parent):
        assert mode_of(path) == 0o700


def test_what_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o755)
    make_private_directory(tmp_path / "there" / "data")
    assert mode_of(tmp_path / "there") == 0o755
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        make_private_directory(tmp_path / "file")
    with pytest.raises(OSError):
        make_private_directory(tmp_path / "file" / "data")


def wide(path: Path, mode: int, text: str | None = None) -> Path:
    """Make a directory or a file of the mode."""
    if text is None:
        path.mkdir()
    else:
        path.write_text(text)
    path.chmod(mode)
    return path


def test_a_wider_one_is_closed_with_all_that_is_in_it(tmp_path: Path) -> None:
    data = wide(tmp_path / "data", 0o777)
    state = wide(data / "state.toml", 0o644, "")
    half = wide(data / ".state.toml.x1", 0o604, "")
    accounts = wide(data / "accounts", 0o755)
    journal = wide(accounts / "journal.sqlite", 0o660, "")
    closed = close_to_others(data, OWN, is_ours=False)
    assert dict(closed.narrowed) == {data: 0o777, state: 0o644, half: 0o604, accounts: 0o755, journal: 0o660}
    assert closed.left_open == ()
    for path, mode in ((data, 0o700), (state, 0o600), (half, 0o600), (accounts, 0o700), (journal, 0o600)):
        assert mode_of(path) == mode
    assert close_to_others(data, OWN, is_ours=False).narrowed == ()


def test_a_directory_with_other_things_in_it_is_left_and_named(tmp_path: Path) -> None:
    home = wide(tmp_path / "home", 0o755)
    letter = wide(home / "letter.txt", 0o644, "")
    accounts = wide(home / "accounts", 0o755)
    closed = close_to_others(home, OWN, is_ours=False)
    assert closed.left_open == (home,)
    assert (mode_of(home), mode_of(letter), mode_of(accounts)) == (0o755, 0o644, 0o700)
    assert close_to_others(home, OWN, is_ours=True).narrowed == ((home, 0o755),)
    assert mode_of(letter) == 0o644


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = wide(tmp_path / "elsewhere", 0o755)
    outside = wide(elsewhere / "file", 0o644, "")
    data = wide(tmp_path / "data", 0o755)
    (data / "accounts").symlink_to(elsewhere)
    close_to_others(data, OWN, is_ours=False)
    assert (mode_of(data), mode_of(elsewhere), mode_of(outside)) == (0o700, 0o755, 0o644)


def test_files_that_their_reader_refuses_are_left_to_it(tmp_path: Path) -> None:
    accounts = wide(wide(tmp_path / "data", 0o755) / "accounts", 0o755)
    key_store = wide(accounts / "vault", 0o755)
    key = wide(key_store / "key.toml", 0o644, "")
    close_to_others(tmp_path / "data", OWN, is_ours=False, checked_by_reader=("vault",))
    assert (mode_of(key_store), mode_of(key)) == (0o700, 0o644)


def test_a_directory_that_only_root_can_look_into_is_closed_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wide(tmp_path / "data", 0o755)
    state = wide(data / "state.toml", 0o644, "")
    accounts = wide(data / "accounts", 0o700)
    listed = Path.iterdir

    def refused(directory: Path) -> Iterator[Path]:
        if directory == accounts:
            raise PermissionError(13, "Permission denied")
        return listed(directory)

    monkeypatch.setattr(Path, "iterdir", refused)
    closed = close_to_others(data, OWN, is_ours=False)
    assert (dict(closed.narrowed), closed.left_open) == ({data: 0o755, state: 0o644}, ())


def test_a_directory_that_can_be_listed_but_not_entered_is_closed_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wide(tmp_path / "data", 0o755)
    wide(data / "state.toml", 0o644, "")

    def refused(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_symlink", refused)
    assert close_to_others(data, OWN, is_ours=True).narrowed == ((data, 0o755),)


def test_nothing_there_is_nothing_to_close(tmp_path: Path) -> None:
    closed = close_to_others(tmp_path / "none", OWN, is_ours=True)
    assert (closed.narrowed, closed.left_open) == ((), ())
