"""Writes new profiles and the line that names the default, and changes nothing else of the user's."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from tradetui.profiles.errors import ConfigurationError
from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory
from tradetui.storage.toml_file import NotToml, parse_toml

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_DEFAULT_LINE = re.compile(r"""^default_profile[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*')(?P<rest>[^\n]*)$""", re.MULTILINE)


def check_name(name: str, location: str) -> None:
    """Refuse a name that is not allowed for a profile and its file; raises ConfigurationError."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            "must be 1 to 32 letters, digits, - or _", location=location, remedy="Choose another name."
        )


def write_profile(file: Path, settings: Mapping[str, Any], heading: str) -> None:
    """Write a new profile's file in one step and sync it, with mode 0600 in a directory of mode 0700.

    Raises ConfigurationError if the file exists already or cannot be written.
    """
    try:
        make_private_directory(file.parent)
    except OSError as problem:
        raise ConfigurationError(f"cannot be written: {problem.strerror}", location=str(file)) from None
    try:
        write_text(file, f"# {heading}\n" + tomli_w.dumps(dict(settings)), overwrite=False)
    except FileExistsError:
        raise ConfigurationError(
            "exists already and is not overwritten",
            location=str(file),
            remedy="Choose another name, or remove it first.",
        ) from None
    except OSError as problem:
        raise ConfigurationError(f"cannot be written: {problem.strerror}", location=str(file)) from None


def write_default(config_file: Path, name: str) -> None:
    """Make a profile the default: change or add that one line in the configuration file, or make the file.

    Raises ConfigurationError if the file cannot be written, or if more than this line would have to change.
    """
    line = tomli_w.dumps({"default_profile": name})
    if not config_file.exists():
        write_profile(
            config_file, {"default_profile": name}, "tradetui configuration; every key: tradetui config example"
        )
        return
    file = config_file.resolve()
    try:
        text = file.read_bytes().decode("utf-8")
        before = parse_toml(text)
        changed, count = _DEFAULT_LINE.subn(lambda written: f"{line.rstrip()}{written['rest']}", text, count=1)
        changed = changed if count else f"{line}\n{text}"
        if not _holds(changed, {**before, "default_profile": name}):
            raise ConfigurationError(
                "cannot be changed without changing more than this line",
                location=str(config_file),
                key="default_profile",
                remedy=f"Write {line.rstrip()} into it above its first table.",
            )
        write_text(file, changed, mode=stat.S_IMODE(file.stat().st_mode))
    except (NotToml, UnicodeDecodeError):
        raise ConfigurationError("not readable as TOML", location=str(config_file)) from None
    except OSError as problem:
        raise ConfigurationError(f"cannot be written: {problem.strerror}", location=str(config_file)) from None


def _holds(text: str, settings: Mapping[str, Any]) -> bool:
    try:
        return parse_toml(text) == settings
    except NotToml:
        return False
