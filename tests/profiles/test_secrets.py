"""Secrets: four places, the refusal of open files, and no secret in any text."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.profiles.secrets import fetch_credentials

CANARY = "canary-secret-value"
KEY_FILE = f'api_key = "k"\nsecret = "{CANARY}"\npassphrase = "Passphrase9"\n'


def loaded(tmp_path: Path, credentials: str, environ: dict[str, str] | None = None) -> LoadedProfile:
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.main]\nbase_url = "https://x.example"\ncredentials = {credentials}\n')
    return load(environ or {}, Flags(config=config))


def test_from_a_file_of_mode_0600(tmp_path: Path) -> None:
    file = tmp_path / "key.toml"
    file.write_text(KEY_FILE)
    file.chmod(0o600)
    material = fetch_credentials(loaded(tmp_path, f'{{ source = "file", path = "{file}" }}'))
    assert material.secret.get_secret_value() == CANARY
    assert CANARY not in repr(material)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_wider_file_is_refused_with_the_chmod_to_run(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key.toml"
    file.write_text(KEY_FILE)
    file.chmod(mode)
    with pytest.raises(ConfigurationError) as caught:
        fetch_credentials(loaded(tmp_path, f'{{ source = "file", path = "{file}" }}'))
    assert caught.value.remedy == f"Run: chmod 600 {file}"
    assert CANARY not in str(caught.value)


def test_a_link_is_refused(tmp_path: Path) -> None:
    file, link = tmp_path / "key.toml", tmp_path / "link.toml"
    file.write_text(KEY_FILE)
    file.chmod(0o600)
    os.symlink(file, link)
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        fetch_credentials(loaded(tmp_path, f'{{ source = "file", path = "{link}" }}'))


def test_from_the_environment_with_a_prefix(tmp_path: Path) -> None:
    environ = {"DESK_API_KEY": "k", "DESK_API_SECRET": CANARY, "DESK_PASSPHRASE": "Passphrase9"}
    material = fetch_credentials(loaded(tmp_path, '{ source = "environment", prefix = "DESK" }', environ))
    assert material.passphrase.get_secret_value() == "Passphrase9"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="lacks DESK_API_SECRET, DESK_PASSPHRASE"):
        fetch_credentials(loaded(tmp_path, '{ source = "environment", prefix = "DESK" }', {"DESK_API_KEY": "k"}))


def test_a_line_break_is_named(tmp_path: Path) -> None:
    environ = {"DESK_API_KEY": "k", "DESK_API_SECRET": CANARY, "DESK_PASSPHRASE": "Pass\nphrase9"}
    with pytest.raises(ConfigurationError, match="passphrase holds a line break") as caught:
        fetch_credentials(loaded(tmp_path, '{ source = "environment", prefix = "DESK" }', environ))
    assert "phrase9" not in str(caught.value)


def test_an_rsa_key_has_the_lines_of_its_pem_text(tmp_path: Path) -> None:
    pem = "-----BEGIN PRIVATE KEY-----\r\nMIIE\n-----END PRIVATE KEY-----\n"
    environ = {"DESK_API_KEY": "k", "DESK_API_SECRET": pem, "DESK_PASSPHRASE": "Passphrase9"}
    credentials = '{ source = "environment", prefix = "DESK" }'
    material = fetch_credentials(loaded(tmp_path, credentials, environ))
    assert material.secret.get_secret_value() == pem.strip()
    assert material.rsa, "its first line says so, where no profile can"
    for damaged in (pem.replace("MIIE", "MI\x1bIE"), pem.removeprefix("-----BEGIN ")):
        with pytest.raises(ConfigurationError, match="secret holds a line break"):
            fetch_credentials(loaded(tmp_path, credentials, {**environ, "DESK_API_SECRET": damaged}))


@pytest.mark.parametrize("as_json", [True, False])
def test_from_a_command(tmp_path: Path, as_json: bool) -> None:
    values = {"api_key": "k", "secret": CANARY, "passphrase": "Passphrase9"}
    text = json.dumps(values) if as_json else "\n".join(values.values())
    command = json.dumps([sys.executable, "-c", f"print({text!r})"])
    material = fetch_credentials(loaded(tmp_path, f'{{ source = "command", command = {command} }}'))
    assert material.secret.get_secret_value() == CANARY


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        (f"k\n-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\nPassphrase9", "5 lines"),
        (f"k\n{CANARY}", "2 lines"),
        ("", "0 lines"),
    ],
)
def test_a_command_that_prints_other_than_three_lines_is_to_print_json(
    tmp_path: Path, printed: str, count: str
) -> None:
    command = json.dumps([sys.executable, "-c", f"print({printed!r})"])
    with pytest.raises(ConfigurationError, match=f"printed {count}, neither the three of") as caught:
        fetch_credentials(loaded(tmp_path, f'{{ source = "command", command = {command} }}'))
    assert caught.value.remedy == "Let it print a JSON object; a PEM has many lines."
    assert CANARY not in str(caught.value)


def test_a_command_gives_a_key_in_pem_within_a_json_object(tmp_path: Path) -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"
    text = json.dumps({"api_key": "k", "secret": pem, "passphrase": "Passphrase9"})
    command = json.dumps([sys.executable, "-c", f"print({text!r})"])
    key = fetch_credentials(loaded(tmp_path, f'{{ source = "command", command = {command} }}'))
    assert (key.secret.get_secret_value(), key.rsa) == (pem, True)


@pytest.mark.parametrize(
    ("code", "rule"),
    [("import sys; print('canary'); sys.exit(3)", "ended with code 3"), ("print('{oops')", "JSON object")],
)
def test_a_command_that_fails_is_told_without_its_output(tmp_path: Path, code: str, rule: str) -> None:
    command = json.dumps([sys.executable, "-c", code])
    with pytest.raises(ConfigurationError, match=rule) as caught:
        fetch_credentials(loaded(tmp_path, f'{{ source = "command", command = {command} }}'))
    assert "canary" not in str(caught.value)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such program"):
        fetch_credentials(loaded(tmp_path, '{ source = "command", command = ["no-such-program-here"] }'))
