"""Writes new profiles, the line that names the default, and the example configuration; nothing else of the user's."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, SecretStr

from tradetui.profiles.alert_rules import EXAMPLES, AlertRule
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.model import CredentialSource, Intervals, Profile
from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_DEFAULT_LINE = re.compile(r"""^default_profile[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*')(?P<rest>[^\n]*)$""", re.MULTILINE)
_EXAMPLES: Mapping[str, Any] = {
    "base_url": "https://api.bitget.com",
    "uid": "1234567890",
    "alert_command": ["notify-send", "tradetui"],
    "max_reversal_size": 5,
    "max_reversal_value": 25000,
    "typed_above": 10000,
    "start_locked": True,
    "data_dir": "~/.local/share/tradetui",
    "symbols": ["BTCUSDT", "ETHUSDT"],
    "keys": {"reverse": "R", "poll_now": "u,f5"},
}
_CREDENTIAL_EXAMPLES: Mapping[str, Any] = {
    "command": ["pass", "show", "exchange/main"],
    "path": "~/.config/tradetui/keys/main.toml",
}


def example_text() -> str:
    """Return `config.example.toml`: every key of the model with its meaning, ready to load."""
    lines = [
        "# tradetui configuration. Copy it to the path that `tradetui doctor` names and change what you need.",
        "# Every key a profile can have is here; only base_url has no default.",
        "",
        'default_profile = "main"',
        "",
        "[profiles.main]",
    ]
    lines += _settings(Profile, _EXAMPLES, tables=("credentials", "intervals", "keys", "alerts"))
    lines += ["", "[profiles.main.intervals]", *_settings(Intervals, {})]
    lines += ["", "# " + (Profile.model_fields["keys"].description or ""), "[profiles.main.keys]"]
    lines += [tomli_w.dumps({key: value}).rstrip() for key, value in _EXAMPLES["keys"].items()]
    lines += ["", "[profiles.main.credentials]", *_settings(CredentialSource, _CREDENTIAL_EXAMPLES)]
    lines += _alert_lines()
    return "\n".join(lines) + "\n"


def _settings(model: type[BaseModel], examples: Mapping[str, Any], tables: Collection[str] = ()) -> list[str]:
    """A model's settings, each with its example, else its default; `tables` are those that stand elsewhere."""
    lines: list[str] = []
    for name, field in model.model_fields.items():
        if name not in tables:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            lines += _entry(name, field.description, examples.get(name, default), default)
    return lines


def _alert_lines() -> list[str]:
    lines = ["", f"# {Profile.model_fields['alerts'].description}"]
    lines += [f"#   {name}: {field.description}" for name, field in AlertRule.model_fields.items()]
    for example in EXAMPLES:
        lines += ["", "[[profiles.main.alerts]]"]
        lines += [_assignment(name, value) for name, value in example.items()]
    return lines


def _entry(name: str, description: str | None, value: Any, default: Any) -> list[str]:
    plain = list(value) if isinstance(value, tuple) else value
    if isinstance(plain, SecretStr):
        plain = plain.get_secret_value()
    comment = f"# {description}" + (" (not set by default)" if default is None and name != "base_url" else "")
    return ["", comment, _assignment(name, plain)]


def _assignment(name: str, value: Any) -> str:
    """One `key = value` on one line; tomli-w puts each element of a list on a line of its own."""
    if isinstance(value, list):
        items = (tomli_w.dumps({"item": item}).rstrip().removeprefix("item = ") for item in value)
        return f"{name} = [{', '.join(items)}]"
    return tomli_w.dumps({name: value}).rstrip()


def check_name(name: str, location: str) -> None:
    """Refuse what cannot be a profile's name, which is its file's too; raises ConfigurationError."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            "must be 1 to 32 letters, digits, - or _", location=location, remedy="Choose another name."
        )


def write_profile(file: Path, settings: Mapping[str, Any], heading: str) -> None:
    """Write a new profile's file, mode 0600 in a directory of mode 0700, synced and in one step.

    Raises ConfigurationError where the file exists already, or cannot be written.
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
    """Make a profile the default: change or add that one line of the configuration file, or make the file.

    Raises ConfigurationError where the file cannot be written, or not without changing more of it.
    """
    line = tomli_w.dumps({"default_profile": name})
    if not config_file.exists():
        write_profile(config_file, {"default_profile": name}, "tradetui configuration; every key: config.example.toml")
        return
    file = config_file.resolve()
    try:
        text = file.read_bytes().decode("utf-8")
        before = tomllib.loads(text)
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ConfigurationError("not readable as TOML", location=str(config_file)) from None
    except OSError as problem:
        raise ConfigurationError(f"cannot be written: {problem.strerror}", location=str(config_file)) from None


def _holds(text: str, settings: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == settings
    except tomllib.TOMLDecodeError:
        return False
