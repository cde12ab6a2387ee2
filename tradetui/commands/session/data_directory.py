"""Keeps the data directory private to its owner: removes others' permissions and reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.commands.process.console import say
from tradetui.commands.session.screen_state import FILE as STATE_FILE
from tradetui.profiles import paths
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.storage.private_directory import PermissionChanges, close_to_others

OWN_NAMES: Final = ("accounts", STATE_FILE, f"{STATE_FILE}.unread")
"""Every file and folder directly in the data directory."""
KEY_STORE_DIRECTORIES: Final = ("vault",)
"""Directories of issued keys: a file there that others may read is refused, since it is no secret any more."""


def load_privately(environ: Mapping[str, str], flags: Flags) -> LoadedProfile:
    """Load the profile and close its data directory to others; raises ConfigurationError."""
    loaded = load(environ, flags)
    if sentence := permission_sentence(loaded, close_data_dir(loaded)):
        say(f"tradetui: {sentence}")
    return loaded


def close_data_dir(loaded: LoadedProfile) -> PermissionChanges:
    is_default = loaded.data_dir == paths.data_dir({})
    return close_to_others(loaded.data_dir, OWN_NAMES, is_ours=is_default, checked_by_reader=KEY_STORE_DIRECTORIES)


def permission_sentence(loaded: LoadedProfile, changes: PermissionChanges) -> str:
    """Which files were open to others, and whether they still are; empty if none was."""
    sentences = []
    if changes.narrowed:
        (path, mode), *others = changes.narrowed
        more = f" and {len(others)} more in it" if others else ""
        sentences.append(f"Others could read {path}{more} (mode {mode:04o}); now only you can.")
    for path in changes.left_open[:1]:
        if path == loaded.data_dir:
            sentences.append(
                f"Others can read data_dir {path}. tradetui did not change that, because the directory belongs to "
                "others too or holds other files. Set data_dir to a separate directory, or run chmod 700 on this one."
            )
        else:
            sentences.append(
                f"Others can read {path}, and tradetui cannot change that. Become its owner, or remove it."
            )
    return " ".join(sentences)
