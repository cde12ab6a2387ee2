"""What a shell and a system expect of a program: versions, completions, paths, and a log that keeps no secret."""

from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.commands.conftest import Point
from tradetui import __version__
from tradetui.cli import main
from tradetui.commands.process.console import DONE, REFUSED, USAGE
from tradetui.commands.process.log_file import KEPT_FILES, MAX_BYTES, start_log
from tradetui.commands.process.secrecy import hide_in_log

COMPLETED = """
source {script}
COMP_WORDS=({command_line}) COMP_CWORD={index}
_shtab_tradetui
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("TRADETUI_CONFIG", "TRADETUI_DATA_DIR", "TRADETUI_RUNTIME_DIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def log_lines(file: Path) -> list[str]:
    for handler in logging.getLogger("tradetui").handlers:
        handler.flush()
    return file.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def no_log_afterwards() -> Iterator[None]:
    yield
    logger = logging.getLogger("tradetui")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(logging.NOTSET)


def test_the_version_names_python_and_textual(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    versions = f"tradetui {__version__}, Python {sys.version.split()[0]}, Textual {version('textual')}\n"
    assert capsys.readouterr().out == versions


def completion_script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completions", shell]) == DONE
    script = folder / f"completions.{shell}"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    return script


@pytest.mark.parametrize(
    ("command_line", "completions"),
    [
        ("tradetui sho", {"show"}),
        ("tradetui completions ''", {"bash", "zsh", "fish"}),
        ("tradetui help s", {"screen", "scripts", "sessions", "sandbox"}),
        ("tradetui show spot-", {"spot-fills", "spot-bills"}),
        ("tradetui show fills --sym", {"--symbol"}),
        ("tradetui sandbox --dialect l", {"live"}),
    ],
)
def test_bash_completes(
    command_line: str, completions: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = completion_script("bash", tmp_path, capsys)
    program = COMPLETED.format(script=script, command_line=command_line, index=len(command_line.split()) - 1)
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == completions, done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_the_script_and_every_command_is_in_it(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = completion_script(shell, tmp_path, capsys)
    text = script.read_text(encoding="utf-8")
    for word in ("accept-loss", "spot-bills", "one-way-size", "completions"):
        assert word in text
    if (program := shutil.which(shell)) is not None:
        done = subprocess.run([program, "-n", str(script)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completions", "tcsh"])
    assert ended.value.code == USAGE
    assert "bash" in capsys.readouterr().err


def test_paths_are_told_without_a_configuration(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "--json"]) == DONE
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    config = home / "config" / "tradetui"
    assert rows["configuration"] == {"name": "configuration", "path": str(config / "config.toml"), "exists": False}
    assert rows["profiles"]["path"] == str(config / "profiles.d")
    assert rows["keys"]["path"] == str(config / "keys")
    assert set(rows) == {"configuration", "profiles", "keys", "data", "state", "runtime"}


def test_paths_follow_the_profile(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "own.toml"
    file.write_text(f'[profiles.main]\nbase_url = "https://x.example"\ndata_dir = "{home}/elsewhere"\n')
    assert main(["paths", "--config", str(file)]) == DONE
    assert f"data           {home}/elsewhere  (none yet)" in capsys.readouterr().out


def test_paths_are_told_of_a_configuration_that_cannot_be_loaded(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "own.toml"
    file.write_text("[profiles.main]\nbase_url = 1\n")
    assert main(["paths", "--config", str(file)]) == USAGE
    output = capsys.readouterr()
    assert str(file) in output.out and "base_url" in output.err


def test_doctor_names_the_configurations_path_where_there_is_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == USAGE
    assert str(home / "config" / "tradetui" / "config.toml") in capsys.readouterr().err


@pytest.mark.usefixtures("no_log_afterwards")
def test_the_log_tells_each_call_and_no_secret_and_no_query(
    point: Point, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    file = tmp_path / "tradetui.log"
    assert main(["show", "fills", "--symbol", "BTCUSDT", "--json", "--log", str(file)]) == DONE
    point(TRADETUI_PASSPHRASE="AnotherOne1")
    assert main(["--log", str(file), "show", "accounts"]) == REFUSED
    capsys.readouterr()
    lines = log_lines(file)
    assert any(line.endswith(" ms") and "futures.fills: answered" in line for line in lines)
    assert any("futures.accounts: code 40012" in line for line in lines)
    text = "\n".join(lines)
    for name in ("TRADETUI_API_KEY", "TRADETUI_API_SECRET", "TRADETUI_PASSPHRASE"):
        assert os.environ[name] not in text
    assert "BTCUSDT" not in text and "productType=" not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.usefixtures("no_log_afterwards")
def test_whatever_is_logged_secrets_queries_and_control_characters_are_not_written(tmp_path: Path) -> None:
    file = tmp_path / "tradetui.log"
    file.write_text("")
    file.chmod(0o644)
    start_log(file)
    hide_in_log("canary-secret", "first line of a key\nsecond line of a key")
    logger = logging.getLogger("tradetui.somewhere")
    logger.warning("GET /api/v2/mix/order/fills?symbol=%s and canary-secret\x1b]52;c;x\x07", "ETHUSDT")
    logger.warning("second line of a key")
    try:
        raise ValueError("another secret that nobody registered")
    except ValueError:
        logger.exception("it failed")
    text = "\n".join(log_lines(file))
    assert "fills?… and ***�]52;c;x�" in text
    assert "second line" not in text and "ETHUSDT" not in text
    assert "ValueError, through" in text and "nobody registered" not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.usefixtures("no_log_afterwards")
def test_the_log_is_rotated_and_stays_private(tmp_path: Path) -> None:
    file = tmp_path / "tradetui.log"
    start_log(file)
    logger = logging.getLogger("tradetui.somewhere")
    line = "x" * 10_000
    for _ in range((KEPT_FILES + 2) * MAX_BYTES // 10_000):
        logger.info(line)
    kept = sorted(tmp_path.iterdir())
    assert [one.name for one in kept] == ["tradetui.log", *(f"tradetui.log.{n}" for n in range(1, KEPT_FILES + 1))]
    assert all(one.stat().st_size <= MAX_BYTES and stat.S_IMODE(one.stat().st_mode) == 0o600 for one in kept)


@pytest.mark.usefixtures("no_log_afterwards")
def test_a_log_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "missing" / "tradetui.log"
    assert main(["--log", str(file), "keys"]) == USAGE
    message = capsys.readouterr().err
    assert str(file) in message and "--log" in message


@pytest.mark.usefixtures("no_log_afterwards")
def test_a_full_disk_neither_stops_nor_disturbs(capsys: pytest.CaptureFixture[str]) -> None:
    start_log(Path("/dev/full"))
    logging.getLogger("tradetui.somewhere").error("never written")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("watch fill --json bogus", "argument WHAT: 'bogus' is none of fill, order, trigger, alert, outcome"),
        ("watch --bogus", "unrecognized arguments: --bogus. tradetui watch --help lists what it takes."),
        ("--bogus", "unrecognized arguments: --bogus. tradetui --help lists what it takes."),
        ("show positions --symbol A", "unrecognized arguments: --symbol A. tradetui show positions --help lists what"),
        ("demo --size -5", "argument --size: '-5' is not a size such as 160x48"),
    ],
)
def test_what_a_command_does_not_take_is_named_with_the_remedy(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == USAGE
    assert sentence in capsys.readouterr().err


def test_kinds_of_events_may_stand_after_a_flag(point: Point, capsys: pytest.CaptureFixture[str]) -> None:
    point()
    assert main(["watch", "fill", "--json", "order", "--since", "17-zz"]) == USAGE
    assert "--since: must be the id of an event, or a time" in capsys.readouterr().err
