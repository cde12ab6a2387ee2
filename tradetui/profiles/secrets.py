"""Fetches an API key with its secret and passphrase from the one source that a profile names."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import LoadedProfile
from tradetui.storage.toml_file import NotToml, read_toml
from tradetui.wire.text import counted

if TYPE_CHECKING:
    from tradetui.exchange.credentials import Credentials

FIELDS = ("api_key", "secret", "passphrase")
_VARIABLES: Final = ("API_KEY", "API_SECRET", "PASSPHRASE")
"""The endings of the environment variables of the fields; the prefix comes before them."""
_COMMAND_S: Final = 30
PEM_BEGIN: Final = "-----BEGIN "
"""The beginning of an RSA API key's private key."""


def fetch_credentials(loaded: LoadedProfile) -> Credentials:
    """Return the profile's key.

    Raises ConfigurationError if the source does not exist, is readable by others, or lacks one of the three fields.
    """
    source = loaded.profile.credentials
    names: tuple[str, ...] = FIELDS
    if source.source == "environment":
        names = tuple(f"{source.prefix}_{ending}" for ending in _VARIABLES)
        values = {field: loaded.environ.get(name, "").strip() for field, name in zip(FIELDS, names, strict=True)}
        location = "environment"
    elif source.source == "command":
        values, location = _from_command(source.command), f"command {source.command[0]}"
    elif source.source == "keyring":
        values, location = _from_keyring(source.service, loaded.name), f"keyring {source.service}"
    else:
        assert source.path is not None  # the model refuses the source file without one
        file = source.path.expanduser()
        values, location = _from_file(file), str(file)
    missing = [name for field, name in zip(FIELDS, names, strict=True) if not values.get(field)]
    if missing:
        raise ConfigurationError(
            f"lacks {', '.join(missing)}",
            location=location,
            key="credentials",
            remedy=f"All three of {names[0]}, {names[1]} and {names[2]} are needed.",
        )
    is_rsa = source.rsa or values["secret"].startswith(PEM_BEGIN)
    check_characters(values, location, is_rsa=is_rsa)
    from tradetui.exchange.credentials import Credentials  # nothing signs before there is a key

    return Credentials(values["api_key"], values["secret"], values["passphrase"], is_rsa)


def check_characters(values: Mapping[str, str], location: str, *, is_rsa: bool) -> None:
    """Refuse a key with impossible characters.

    Raises ConfigurationError, which names the field to copy again.
    """
    refused = partial(ConfigurationError, location=location, key="credentials")
    if not values["api_key"].isascii() or not values["passphrase"].isascii():
        raise refused("key and passphrase must be plain ASCII", remedy="Copy them again.")
    for name in FIELDS:
        lines = values[name].splitlines() if name == "secret" and is_rsa else [values[name]]  # a PEM has many lines
        if not all(line.isprintable() for line in lines):
            remedy = "Copy it again, without any characters around it."
            raise refused(f"{name} holds a line break or another control character", remedy=remedy)


def refuse_wider_than_owner(file: Path) -> None:
    """Refuse a file of secrets that anyone but its owner may read.

    Raises ConfigurationError, with the `chmod` to run or because the file is a link.
    """
    refused = partial(ConfigurationError, location=str(file))
    try:
        mode = file.lstat().st_mode
    except OSError as problem:
        remedy = "Put it there, or correct the path in the profile."
        raise refused(f"cannot be read: {problem.strerror}", remedy=remedy) from None
    if stat.S_ISLNK(mode):
        raise refused("is a symbolic link; secrets are read from a regular file only", remedy="Name the file itself.")
    if mode & 0o077:
        rule = f"holds secrets and has mode {stat.S_IMODE(mode):04o}; only its owner may read it"
        raise refused(rule, remedy=f"Run: chmod 600 {file}")


def _from_command(command: tuple[str, ...]) -> dict[str, str]:
    refused = partial(ConfigurationError, location=f"command {command[0]}", key="credentials.command")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMMAND_S, check=False)
    except FileNotFoundError:
        raise refused("no such program", remedy="Check its name and PATH.") from None
    except subprocess.TimeoutExpired:
        raise refused(f"gave no answer within {_COMMAND_S} s") from None
    except OSError as problem:
        raise refused(f"cannot be run: {problem.strerror}") from None
    if done.returncode != 0:
        raise refused(f"ended with code {done.returncode}", remedy="Run it by hand to see why.")
    try:
        text = done.stdout.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise refused("printed no UTF-8 text") from None
    if text.startswith("{"):
        return fields_of_json(text, f"command {command[0]}")
    lines = text.splitlines()
    if len(lines) != len(FIELDS):
        rule = (
            f"printed {counted(len(lines), 'line')}, neither the three of key, secret and passphrase nor a JSON object"
        )
        raise refused(rule, remedy="Let it print a JSON object; a PEM has many lines.")
    return dict(zip(FIELDS, map(str.strip, lines), strict=True))


def _from_keyring(service: str, name: str) -> dict[str, str]:
    text = read_keyring(service, name)
    if not text:
        raise ConfigurationError(
            f"holds nothing for {name!r}",
            location=f"keyring {service}",
            key="credentials",
            remedy=f"Store a JSON object with api_key, secret and passphrase: keyring set {service} {name}",
        )
    return fields_of_json(text, f"keyring {service}")


def fields_of_json(text: str, location: str) -> dict[str, str]:
    """Return the fields of a key in a JSON object; raises ConfigurationError."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ConfigurationError(
            "must give a JSON object with api_key, secret and passphrase", location=location, key="credentials"
        )
    return _known_fields(values)


def _from_file(file: Path) -> dict[str, str]:
    refuse_wider_than_owner(file)
    try:
        values = read_toml(file)
    except NotToml:  # the message may quote a secret
        raise ConfigurationError(
            "not readable as TOML",
            location=str(file),
            key="credentials.path",
            remedy='It holds lines such as api_key = "…".',
        ) from None
    except OSError as problem:
        raise ConfigurationError(f"cannot be read: {problem.strerror}", location=str(file)) from None
    return _known_fields(values)


def _known_fields(values: Mapping[str, object]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name in FIELDS and isinstance(value, str)}


def read_keyring(service: str, user: str) -> str | None:
    """Return the text stored under this name, None if there is none; raises ConfigurationError."""
    with _keyring(service) as keyring:
        text: str | None = keyring.get_password(service, user)
        return text


def write_keyring(service: str, user: str, text: str) -> None:
    """Store a text under this name, replacing any other; raises ConfigurationError."""
    with _keyring(service) as keyring:
        keyring.set_password(service, user, text)


def delete_from_keyring(service: str, user: str) -> None:
    """Delete the text stored under this name, if any; raises ConfigurationError."""
    with _keyring(service) as keyring:
        if keyring.get_password(service, user) is not None:
            keyring.delete_password(service, user)


@contextmanager
def _keyring(service: str) -> Iterator[ModuleType]:
    refused = partial(ConfigurationError, location=f"keyring {service}", key="credentials.source")
    try:
        import keyring
        import keyring.errors
    except ImportError:
        remedy = "Run pip install '.[keyring]' in tradetui's source directory."
        raise refused("needs the keyring package", remedy=remedy) from None
    try:
        yield keyring
    except keyring.errors.KeyringError:
        remedy = "Unlock it, or use a file of mode 0600."
        raise refused("the system's keyring is not available or locked", remedy=remedy) from None
