"""Words that never reach a person: in the program's own sentences, and on the screens of the demonstration."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows
from tradetui.manual import PAGE_NAMES, read_page
from tradetui.ui.application.run_app import screen_text

PACKAGE = Path(__file__).parents[2] / "tradetui"
UNWANTED = re.compile(
    r"\b(told|tells?|anew|legs?|given out|of its own|what became of|base coin|quote coin|dead for|wrong side)\b", re.I
)
"""Terms that only the authors know, and old names of what has one name now: say reported, again, side, created."""
OF_THE_INTERFACE = re.compile(r"\b(pos_loss|pos_profit|moving_plan|fail_execute|normal_plan|profit_plan|loss_plan)\b")
"""The interface's words: they stay in the detail, in filters and in `show`."""
_SQL = re.compile(r"^\W*(select|insert|update|delete|create|alter|drop|pragma|with)\b|= [?:]", re.I)


def shown_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each literal that may be a sentence: more than one word, no docstring and no SQL."""
    nodes = list(ast.walk(tree))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            text = node.value
            if " " in text.strip() and not _SQL.search(text):
                yield node.lineno, text


def test_no_sentence_of_the_program_uses_a_word_that_only_its_authors_know() -> None:
    # The embedded exchange speaks as the live one does.
    modules = [file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] != "sandbox"]
    sentences = [
        f"{module.relative_to(PACKAGE)}:{line}: {text!r}"
        for module in modules
        for line, text in shown_texts(ast.parse(module.read_text(encoding="utf-8")))
        if UNWANTED.search(text)
    ]
    assert sentences == []


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_no_page_of_the_manual_uses_one(name: str) -> None:
    assert UNWANTED.findall(read_page(name).text) == []


def test_a_sentence_is_seen_in_an_f_string_and_a_docstring_is_not() -> None:
    source = 'def f(x):\n    """Tells it anew."""\n    return f"it was told to {x} again"\n'
    assert [text for _, text in shown_texts(ast.parse(source)) if UNWANTED.search(text)] == ["it was told to "]


@pytest.mark.looptime
@pytest.mark.parametrize("name", ["hedge", "one-way"])
async def test_no_screen_of_the_demonstration_shows_one(name: str) -> None:
    stage = AppOnFewRows(name, profiles=EVERY_ACCOUNT)
    async with stage.running((200, 60), after=12) as pilot:
        screens = [("", "main")]
        screens += [(key, key) for key in ("5", "4", "3", "1", "s", "P", "o", "J", "question_mark", "ctrl+p", "7", "8")]
        for key, where in screens:
            if key:
                await pilot.press(key)
                await asyncio.sleep(1)
                await pilot.pause()
            text = screen_text(stage.app)
            hits = UNWANTED.findall(text) + OF_THE_INTERFACE.findall(text)
            assert hits == [], f"after {where} the screen shows {hits}"
            if key in ("s", "P", "o", "J", "question_mark", "ctrl+p", "7", "8"):
                await pilot.press("escape")
                await pilot.pause()
