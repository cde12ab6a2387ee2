"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from tests.commands.readme_keys import README, with_table
from tradetui.cli import build_parser
from tradetui.sandbox.endpoints.writes import COPY_KEY_EXISTS, OLD_COPY_MODEL

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


def test_the_library_lines_run_as_printed() -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    compile(code[1], "README.md", "exec")
    from tradetui.exchange import Credentials, ExchangeClient

    assert ExchangeClient(Credentials("key", "secret", "passphrase"), "https://api.bitget.com")
