"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands.readme_keys import README, with_table
from tradetui.cli import build_parser
from tradetui.sandbox.api_errors import COPY_KEY_EXISTS, OLD_COPY_MODEL

ROOT = Path(__file__).parents[2]


def test_the_key_table_is_the_bindings() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_table(text) == text, "write it anew: python -m tests.commands.readme_keys"


def test_the_sandboxs_own_codes_are_listed() -> None:
    text = README.read_text(encoding="utf-8")
    for code, message in (OLD_COPY_MODEL, COPY_KEY_EXISTS):
        assert f"| {code} | {message} |" in text


def test_every_picture_and_file_named_is_there() -> None:
    for name in re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_every_command_named_exists() -> None:
    commands = set(re.findall(r"(?:^|[ `/])tradetui ([a-z]+)", README.read_text(encoding="utf-8"), re.MULTILINE))
    known = set(build_parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr,arg-type]
    assert commands - {"speaks"} <= known


@pytest.mark.parametrize("known", [True, False], ids=["known key", "unknown key"])
def test_the_library_lines_run_as_printed(
    server: dict[str, Any], capsys: pytest.CaptureFixture[str], known: bool
) -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    key = next(profile for profile in server["profiles"] if profile["name"] == "hedge")
    lines = code[1].replace("https://api.bitget.com", server["base_url"])
    if known:
        credentials = f'Credentials("{key["api_key"]}", "{key["secret"]}", "{key["passphrase"]}")'
        lines = lines.replace('Credentials("key", "secret", "passphrase")', credentials)
    exec(compile(lines, "README.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert ("trade_id=" in printed) is known
    assert printed.startswith("AuthenticationFailed: Fills: ") is not known
