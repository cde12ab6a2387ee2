"""What a command says when what it prints cannot be written, and when it is asked for what there is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tradetui.cli import main
from tradetui.commands.process.console import REFUSED, USAGE
from tradetui.ui.application.run_app import is_key


@pytest.mark.parametrize(
    "command",
    [
        "--help >/dev/full",
        "keys >&-",
        "keys --json >/dev/full",
        "show endpoints --csv >/dev/full",
        "sandbox >/dev/full",
        "sandbox >&-",
    ],
)
def test_output_that_cannot_be_written_is_a_sentence(command: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m tradetui {command}', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == REFUSED
    assert done.stderr.startswith("tradetui: the output could not be written: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["keys | head -1", "--help | :"])
def test_a_reader_that_has_gone_is_no_error(command: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'PYTHONUNBUFFERED=1 exec "$0" -m tradetui {command}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sandbox", "--port", "99999"], "'99999' is not a port from 0 to 65535"),
        (["sandbox", "--port", "-1"], "'-1' is not a port from 0 to 65535"),
        (["demo", "--size", "3x3"], "'3x3' is not a size such as 160x48, from 20x5"),
    ],
)
def test_an_argument_out_of_range_is_named(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == USAGE
    assert sentence in capsys.readouterr().err


def test_a_key_there_is_not_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--screenshot", "unwritten.svg", "--keys", "R,zork"]) == USAGE
    assert "there is no key 'zork'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a", "R", "/", "slash", "tab", "shift+tab", "ctrl+p", "f1", "wait:500", "full_stop"])
def test_keys_there_are(name: str) -> None:
    assert is_key(name)


@pytest.mark.parametrize("name", ["zork", "wait:", "wait:x", "ctrl+zork"])
def test_keys_there_are_not(name: str) -> None:
    assert not is_key(name)
