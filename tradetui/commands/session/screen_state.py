"""`state.toml` in the data directory: what was chosen on the screen. What a person wrote is never in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory

FILE = "state.toml"
_HEADING = "# Written by tradetui: theme, columns and order chosen on the screen. Delete it to forget them.\n\n"


def read_screen_state(data_dir: Path) -> tuple[Mapping[str, Any], str]:
    """What the file tells, nothing where there is none, and a sentence where it cannot be read and was put aside."""
    file = data_dir / FILE
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")), ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        _put_aside(file)
        return {}, f"{file} cannot be read: columns, order and theme are as at first. It is kept as {FILE}.unread."
    except OSError:
        return {}, ""  # None yet, or not ours to read: the screen comes up as it does the first time.


def write_screen_state(data_dir: Path, preferences: Mapping[str, Any]) -> None:
    """Replace the file whole; raises OSError."""
    import tomli_w

    make_private_directory(data_dir)
    write_text(data_dir / FILE, _HEADING + tomli_w.dumps(preferences), durable=False)


def _put_aside(file: Path) -> None:
    # A read-only directory keeps it where it is; it is overlooked all the same.
    with suppress(OSError):
        file.replace(file.with_name(f"{FILE}.unread"))
