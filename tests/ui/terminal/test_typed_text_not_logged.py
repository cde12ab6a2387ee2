"""What is typed reaches no log of Textual's, whatever its variables ask for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

from tests.ui.fixtures.crashing_screen import _no_desk
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings

ROOT = Path(__file__).parents[3]
SECRET = "qzjxkvwp"
"""Letters that no log holds in this order by chance."""


@pytest.mark.parametrize(
    "variables",
    [
        {"TEXTUAL_LOG": "typed.log"},
        {"TEXTUAL": "DEBUG, devtools", "TEXTUAL_LOG": "typed.log", "TEXTUAL_DEBUG": "1"},
    ],
    ids=lambda variables: " ".join(variables),
)
def test_no_key_is_logged(tmp_path: Path, variables: dict[str, str]) -> None:
    environ = {**os.environ, **variables, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tests.ui.fixtures.secret_field_program", SECRET],
        cwd=str(tmp_path),
        env=environ,
        dimensions=(24, 80),
        encoding="utf-8",
    )
    child.expect(r"\x1b\[\?1049h", timeout=120)
    child.expect("▔", timeout=120)  # the field's border: it is on the screen and has the focus
    child.send(SECRET)
    child.expect("•" * 3, timeout=120)
    child.send("\r")
    child.expect(pexpect.EOF, timeout=120)
    child.close()
    assert child.exitstatus == 0, "what was typed came to the field"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variable", ["debug", "devtools", " Debug,DEVTOOLS,headless"])
def test_no_other_program_is_handed_the_keys(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL", variable)
    app = TradeApp(UiSettings("SANDBOX", "TRADE", [ProfileChoice("none", _no_desk)]))
    assert app.features == ({"headless"} if "headless" in variable else set())
    assert app.devtools is None
