"""`tradetui init`: two files of mode 0600, nothing overwritten, no secret on the command line."""

from __future__ import annotations

import io
import re
import stat
from pathlib import Path

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.init import account_sentences
from tradetui.commands.process.console import ATTENTION, DONE, USAGE
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, load
from tradetui.profiles.secrets import fetch_credentials
from tradetui.wire.models.api_key import AccountInfo

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
    assert fetch_credentials(loaded).secret.get_secret_value() == "canary-secret"
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
        (["--base-url", "https://x.example", "--uid", "not a uid"], "--uid: uid: must be 1 to 64 letters"),
        (["--base-url", "https://x.example", "--product-type", "USDT"], "It means: the product types shown"),
        (["--base-url", "https://x.example", "--proxy", "ftp://proxy.example"], "--proxy: proxy: must begin with"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    config: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    assert main(["init", "--config", str(config), *arguments]) == USAGE
    assert word in capsys.readouterr().err
    assert list(config.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("TRADETUI_API_KEY", "kéy-1", "must be plain ASCII. Copy them again."),
        ("TRADETUI_PASSPHRASE", "Pass\x1bphrase9", "passphrase holds a line break or another control character"),
    ],
)
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_written(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, word: str
) -> None:
    monkeypatch.setenv(name, value)
    arguments = ["init", "--config", str(config), "--base-url", "https://x.example"]
    assert main(arguments) == USAGE
    assert word in capsys.readouterr().err
    assert list(config.parent.iterdir()) == []
    monkeypatch.setenv(name, SECRETS[name])
    assert main(arguments) == DONE


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
    assert main(["init", "--config", str(config)]) == DONE
    output = " ".join("".join(capsys.readouterr()).split())
    assert output.count("This is a unified account") == output.count(way_out) == 1
    assert fetch_credentials(load({}, Flags(config=config))).api_key
    main(["doctor", "--config", str(config)])
    report = " ".join(capsys.readouterr().out.split())
    assert report.count("This is a unified account") == report.count(way_out) == 1
    assert "unified account: read" in report
    (profile,) = (config.parent / "profiles.d").glob("*.toml")
    profile.write_text(f'interface = "classic"\n{profile.read_text()}')
    assert main(["doctor", "--config", str(config)]) == ATTENTION
    report = " ".join(capsys.readouterr().out.split())
    assert report.count("is in unified mode") == report.count(way_out) == report.count("40085") == 1


def test_doctor_finds_a_key_of_another_account_than_the_profile_names(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    assert main(["init", "--config", str(config), "--uid", "77"]) == DONE
    assert main(["doctor", "--config", str(config)]) == ATTENTION
    report = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"FAIL account the exchange says that the API key belongs to UID 41\d+, and the profile names 77", report
    )


def test_the_proxy_that_it_was_given_is_the_profiles(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    assert main(["init", "--config", str(config), "--proxy", "socks5://127.0.0.1:1080"]) == DONE
    assert load({}, Flags(config=config)).profile.proxy.get_secret_value() == "socks5://127.0.0.1:1080"


def test_a_key_that_works_is_described_at_once(point: Point, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    point()
    assert main(["init", "--config", str(config)]) == DONE
    messages = capsys.readouterr().err
    assert "refuses" not in messages and "not tried" not in messages
    assert "classic mode, not a copy trader" in messages and "sub-account of" not in messages
    assert "futures orders: read and write; futures positions: read" in messages
    assert "WARNING" not in messages
    assert "works from any address" in messages
    assert "ms from the exchange's, which is fine" in messages


def test_a_key_that_may_withdraw_is_warned_of_and_its_addresses_are_named() -> None:
    row = {"userId": "12", "parentId": 4100000001, "traderType": "trader", "ips": "10.0.0.1,10.0.0.2"}
    info = AccountInfo.from_row({**row, "authorities": ["coor", "wwow"]})
    account, permissions, _, warning, addresses = account_sentences(info, unified=False)
    assert account == "Account: user ID 12, a sub-account of 4100000001, classic mode, a copy trader."
    assert permissions == "Permissions: futures orders: read; withdrawals: read and write."
    assert warning.startswith("WARNING: this key may withdraw")
    assert addresses == "Addresses: the key works from 10.0.0.1, 10.0.0.2 only."


def test_a_key_that_only_reads_is_said_to_reverse_nothing() -> None:
    def sentences(*authorities: str) -> str:
        return " ".join(
            account_sentences(AccountInfo.from_row({"userId": "12", "authorities": list(authorities)}), unified=False)
        )

    assert "This key cannot change a position" in sentences("coor", "cpor")
    assert "To reverse, create a key that may read and write futures orders." in sentences("coor", "cpor")
    assert "This key cannot change a position" not in sentences("coow", "cpor")


def answered(monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    """Have a person at a terminal give these lines."""
    typed = io.StringIO(answers)
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)


def opened_by_default(config: Path) -> str:
    return load({}, Flags(config=config)).name


def test_a_second_account_leaves_the_first_the_default(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = ["init", "--config", str(config), "--base-url", "https://x.example"]
    assert main(first) == DONE
    assert not config.exists(), "one profile needs no default"
    assert main([*first, "--profile", "second"]) == DONE
    assert f"opens the profile main; default_profile in {config} says so" in capsys.readouterr().err
    assert opened_by_default(config) == "main"
    assert main([*first, "--profile", "third", "--default"]) == DONE
    assert opened_by_default(config) == "third"


def test_a_person_is_asked_which_profile_is_the_default(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ["init", "--config", str(config), "--base-url", "https://x.example"]
    assert main(first) == DONE
    answered(monkeypatch, "second\nno such one\nsecond\n")
    assert main(first) == DONE
    messages = capsys.readouterr().err
    assert "Profiles now: main" in messages and "There is no profile 'no such one'" in messages
    assert opened_by_default(config) == "second"
    answered(monkeypatch, "\n")
    assert main([*first, "--profile", "third"]) == DONE
    assert opened_by_default(config) == "second", "Enter keeps it"


def test_several_profiles_without_a_default_are_told_what_to_write_and_where(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ["init", "--config", str(config), "--base-url", "https://x.example"]
    assert main([*first, "--profile", "a"]) == main([*first, "--profile", "b"]) == DONE
    config.unlink()
    assert main([*first, "--profile", "c"]) == ATTENTION
    assert f'write default_profile = "NAME" into {config}' in capsys.readouterr().err
    with pytest.raises(ConfigurationError) as problem:
        load({}, Flags(config=config))
    assert problem.value.location == str(config.parent / "profiles.d"), "it names what is there"
    assert f'default_profile = "a" into {config}, a new file' in str(problem.value)


def test_two_names_are_refused(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--config", str(config), "--profile", "a", "--name", "b"]) == USAGE
    assert "--profile" in capsys.readouterr().err
    assert list(config.parent.iterdir()) == []


def test_a_key_that_the_exchange_refuses_is_said(
    point: Point, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point(TRADETUI_PASSPHRASE="AnotherOne1")
    assert main(["init", "--config", str(config)]) == ATTENTION
    messages = capsys.readouterr().err
    assert "Check the passphrase" in messages
    assert f"Correct what is wrong in {config.parent / 'keys' / 'main.toml'}" in messages
