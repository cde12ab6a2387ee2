"""`tradetui init`: two files of mode 0600, nothing overwritten, no secret on the command line."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.exit_codes import ATTENTION, DONE, USAGE
from tradetui.profiles.load import Flags, load
from tradetui.profiles.secrets import fetch

SECRETS = {
    "TRADETUI_API_KEY": "key-1",
    "TRADETUI_API_SECRET": "canary-secret",
    "TRADETUI_PASSPHRASE": "Passphrase9",
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", open("/dev/null"))  # noqa: SIM115
    return tmp_path / "config.toml"


def test_what_it_writes_loads_and_only_reads(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--config", str(config), "--base-url", "https://x.example"]) == DONE
    assert "canary" not in "".join(capsys.readouterr())
    loaded = load({}, Flags(config=config))
    assert loaded.read_only
    assert fetch(loaded).secret.get_secret_value() == "canary-secret"
    for file in (config.parent / "profiles.d" / "main.toml", config.parent / "keys" / "main.toml"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_second_run_refuses(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["init", "--config", str(config), "--base-url", "https://x.example"]
    assert main(arguments) == DONE
    assert main(arguments) == USAGE
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--base-url", "http://exchange.example"], "https"),
        (["--base-url", "https://x.example", "--name", "../up"], "--name"),
        (["--base-url", "https://x.example", "--uid", "not a uid"], "uid"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    config: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    assert main(["init", "--config", str(config), *arguments]) == USAGE
    assert word in capsys.readouterr().err
    assert list(config.parent.iterdir()) == []


def test_missing_secrets_are_named(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TRADETUI_PASSPHRASE")
    assert main(["init", "--config", str(config), "--base-url", "https://x.example"]) == USAGE
    assert "TRADETUI_PASSPHRASE" in capsys.readouterr().err


def test_a_unified_account_is_said_whole_by_init_and_by_doctor(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    way_out = "create a sub-account in classic mode, make an API key in it, and use that key"
    point("unified")
    assert main(["init", "--config", str(config)]) == ATTENTION
    said = capsys.readouterr().err
    assert said.count("is in unified mode") == said.count(way_out) == 1
    assert fetch(load({}, Flags(config=config))).api_key, "it is written all the same"
    assert main(["doctor", "--config", str(config)]) == ATTENTION
    report = capsys.readouterr().out
    assert report.count("is in unified mode") == report.count(way_out) == report.count("40085") == 1


def test_a_key_that_works_is_written_without_a_word_about_it(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    assert main(["init", "--config", str(config)]) == DONE
    said = capsys.readouterr().err
    assert "refuses" not in said and "not tried" not in said


def test_a_key_that_the_exchange_refuses_is_said(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point(TRADETUI_PASSPHRASE="AnotherOne1")
    assert main(["init", "--config", str(config)]) == ATTENTION
    assert "Check the passphrase" in capsys.readouterr().err
