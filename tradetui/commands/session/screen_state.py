"""`state.toml` in the data directory: the choices made on the screen, by profile: theme, columns, alerts.

A person never writes this file.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tradetui.desk.events.rules import AlertChoices, Rule
from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory
from tradetui.storage.toml_file import NotToml, read_toml

FILE = "state.toml"
_HEADING = (
    "# Written by tradetui: what was chosen on the screen, by profile: theme, columns, order, alerts. Delete it to "
    "forget that.\n\n"
)
_PROFILES: Final = "profiles"
_SILENCED: Final = "silenced"
_MADE: Final = "alerts"
_ONE_WRITER: Final = threading.Lock()


def read_screen_state(data_dir: Path, profile: str) -> tuple[Mapping[str, Any], str]:
    """Return a profile's choices, and a sentence if the file was unreadable and set aside."""
    try:
        stored, notice = _stored(data_dir / FILE)
    except OSError:
        return {}, ""  # the file cannot be read: the screen starts with the defaults
    return _chosen_in(stored, profile), notice


def write_screen_state(data_dir: Path, profile: str, chosen: Mapping[str, Any], *, durable: bool = False) -> None:
    """Replace a profile's choices under these names; the rest of the file stays. `durable` waits for the disk.

    A name with the value None is deleted. Sessions that write at the same time wait for each other. Raises OSError,
    also if the file exists and cannot be read, because the choices of other profiles would be lost.
    """
    import tomli_w

    make_private_directory(data_dir)
    with _one_writer(data_dir):
        stored, _ = _stored(data_dir / FILE)
        profiles = stored.get(_PROFILES)
        profiles = profiles if isinstance(profiles, dict) else {}
        updated = {**_chosen_in(stored, profile), **chosen}
        after = {name: value for name, value in updated.items() if value is not None}
        stored[_PROFILES] = {**profiles, profile: after}
        write_text(data_dir / FILE, _HEADING + tomli_w.dumps(stored), durable=durable)


class FileAlertChoices:
    """The alerts of one profile that were made or silenced on the screen, stored in its screen state."""

    def __init__(self, data_dir: Path, profile: str) -> None:
        self._data_dir = data_dir
        self._profile = profile

    def read(self) -> AlertChoices:
        chosen = read_screen_state(self._data_dir, self._profile)[0]
        names, entries = (stored if isinstance(stored, list) else [] for stored in map(chosen.get, (_SILENCED, _MADE)))
        rules = [(entry, _rule_in(entry)) for entry in entries]
        return AlertChoices(
            frozenset(name for name in names if isinstance(name, str)),
            tuple(rule for _, rule in rules if rule is not None),
            tuple(entry for entry, rule in rules if rule is None),
        )

    def write(self, choices: AlertChoices) -> None:
        """Write the choices; raises OSError."""
        from tradetui.profiles.alert_entry import entry_of

        entries = [*map(entry_of, choices.made), *choices.unreadable]
        chosen = {_SILENCED: sorted(choices.silenced) or None, _MADE: entries or None}
        write_screen_state(self._data_dir, self._profile, chosen, durable=True)


def _rule_in(entry: object) -> Rule | None:
    """Return the rule of an entry; None if this version cannot read it."""
    from tradetui.profiles.alert_entry import AlertRule  # pydantic builds it, and most profiles have no such entry

    try:
        return AlertRule.model_validate(entry).rule
    except ValueError:
        return None


def _chosen_in(stored: Mapping[str, Any], profile: str) -> Mapping[str, Any]:
    profiles = stored.get(_PROFILES)
    chosen = profiles.get(profile) if isinstance(profiles, dict) else None
    return chosen if isinstance(chosen, dict) else {}


def _stored(file: Path) -> tuple[dict[str, Any], str]:
    """Return all choices in the file, and a sentence if it was damaged and set aside; raises OSError."""
    try:
        return read_toml(file), ""
    except FileNotFoundError:
        return {}, ""
    except NotToml:
        with suppress(OSError):  # in a read-only directory the file stays, and is ignored
            file.replace(file.with_name(f"{FILE}.unread"))
        defaults = "columns, order and theme are the defaults, and no alert made on the screen counts"
        return {}, f"{file} cannot be read: {defaults}. The old file is kept as {FILE}.unread."


@contextmanager
def _one_writer(data_dir: Path) -> Iterator[None]:
    """Lock out other threads and processes with this data directory between reading and writing."""
    with _ONE_WRITER:
        directory = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)
