"""`tradetui help`: the list of pages, a page in a pipe and on a terminal; and the library lines of the manual run."""

from __future__ import annotations

import re
import sys
from typing import Any

import pexpect
import pytest

from tradetui.cli import main
from tradetui.commands.process.console import USAGE
from tradetui.manual import PAGE_NAMES, read_page


def test_without_a_page_every_page_is_listed_with_what_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [tuple(line.split(maxsplit=1)) for line in lines[: len(PAGE_NAMES)]] == [
        (name, read_page(name).summary) for name in PAGE_NAMES
    ]


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_comes_as_it_is_through_a_pipe(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == read_page(name).text


def test_a_page_that_does_not_exist_is_refused_with_those_that_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "moneys"]) == USAGE
    (message,) = capsys.readouterr().err.splitlines()
    assert "there is no page 'moneys'" in message and ", ".join(PAGE_NAMES) in message


def test_a_terminal_gets_the_page_laid_out_in_its_width() -> None:
    environ = {"PATH": "", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    page = pexpect.spawn(
        sys.executable, ["-m", "tradetui", "help", "alerts"], env=environ, dimensions=(24, 60), encoding="utf-8"
    )
    shown = re.sub(r"\x1b\[[0-9;]*m", "", page.read())  # colours and underlines, and nothing else
    assert "\x1b" not in shown
    assert "• a on a position makes an alert about it." in shown
    assert "#" not in shown.replace("# no shell", "") and "](" not in shown
    assert max(map(len, shown.splitlines())) <= 60


@pytest.mark.parametrize("known", [True, False], ids=["known key", "unknown key"])
def test_the_library_lines_run_as_printed(
    server: dict[str, Any], capsys: pytest.CaptureFixture[str], known: bool
) -> None:
    code = re.search(r"```python\n(.*?)```", read_page("scripts").text, re.DOTALL)
    assert code is not None
    key = next(profile for profile in server["profiles"] if profile["name"] == "hedge")
    lines = code[1].replace("https://api.bitget.com", server["base_url"])
    if known:
        credentials = f'Credentials("{key["api_key"]}", "{key["secret"]}", "{key["passphrase"]}")'
        lines = lines.replace('Credentials("key", "secret", "passphrase")', credentials)
    exec(compile(lines, "scripts.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert ("trade_id=" in printed) is known
    assert printed.startswith("AuthenticationFailed: Fills: ") is not known
