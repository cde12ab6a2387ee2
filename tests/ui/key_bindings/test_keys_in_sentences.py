"""A sentence names the key that the profile gives a binding, never the built-in one."""

from __future__ import annotations

import ast
import asyncio
import re

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.test_unwanted_words import PACKAGE, shown_texts
from tradetui.desk.tables.table import LOOKUPS
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.key_bindings.actions import Action, key_named
from tradetui.ui.key_bindings.profile_bindings import profile_bindings

KEY_OF_REGISTRY = re.compile(
    r"(?:^|[\n.;:·(,] ?|\b(?:and|or) )(?:[A-Zb-z?/]|Space|[\[{] and [\]}]) (?!is\b|as\b|this\b)[a-z]{3,}s\b"
    r"|: [A-Z]$|^[\[{] and [\]}] "
)
"""A key and what it does, as a sentence writes it: `L unlocks it`, `s turns the order round`, `Space resumes`."""
OWN_KEYS = {
    "ui/application/manual_screen.py",
    "ui/dialogs/table_dialogs.py",
    "ui/intents/creation/issued_keys_screen.py",
}
"""Dialogs with letters of their own, which no profile changes."""
BUILT_IN = re.compile(
    r"(?<![\w+\]] )(?<!\S)(?:Esc|Enter|Space|Tab|F1|F9|A(?= Alerts)|\?(?= Help)|[B-Z/\[\]{}b-z]) (?=[A-Za-z])(?!time\b)"
)
"""A built-in key at the head of a title, a sentence or its place in the bottom line."""
OF_THE_BOX = "Enter keep the filter"
"""Enter is the key of the box itself, which no profile changes."""
FREE_KEYS = [f"{modifier}f{number}" for modifier in ("ctrl+", "alt+", "shift+") for number in range(1, 25)]
OWN: dict[str, str] = dict(zip(Action, FREE_KEYS, strict=False))


def test_no_literal_names_a_key_that_a_profile_may_change() -> None:
    modules = [file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] != "sandbox"]
    sentences = [
        f"{module.relative_to(PACKAGE)}:{line}: {text!r}"
        for module in modules
        for line, text in shown_texts(ast.parse(module.read_text(encoding="utf-8")))
        if KEY_OF_REGISTRY.search(text) and str(module.relative_to(PACKAGE)) not in OWN_KEYS
    ]
    assert sentences == []


@pytest.mark.parametrize(
    "text",
    [
        "Trading is locked; L unlocks it.",
        "s turns it",
        "None.\np goes on",
        "[ and ] choose",
        "· Space resumes",
        " is open: J",
    ],
)
def test_such_a_literal_is_seen(text: str) -> None:
    assert KEY_OF_REGISTRY.search(text)


@pytest.mark.looptime
@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_where_every_key_is_another_no_screen_shows_a_built_in_one(size: tuple[int, int]) -> None:
    assert len(profile_bindings(OWN).taken) == len(Action)
    stage = AppOnFewRows(keys=OWN)
    named: set[str] = set()
    async with stage.running(size, after=8) as pilot:

        async def press(*ids: str) -> None:
            for id_ in ids:
                await pilot.press(OWN[id_])
                await asyncio.sleep(1 if id_ in LOOKUPS else 0.5)
                await pilot.pause()

        async def look(*ids: str) -> None:
            await press(*ids)
            text = screen_text(stage.app).replace(OF_THE_BOX, "")
            hits = [line for line in text.splitlines() if BUILT_IN.search(line)]
            assert hits == [], f"after {ids}:\n{text}"
            named.update(action for action in Action if key_named(action, OWN) in text)

        await look()
        for id_ in ("accounts", "orders", "fills", "triggers", "positions", "zoom", "zoom", "pause", "pause"):
            await look(id_)
        await look("fills", "history")
        await look("filter")
        await pilot.press("z", "z", "z", "z", "z")
        await look()
        await press("back", "back")
        await look("detail")
        await press("back")
        for id_ in ("spot-fills", "spot-bills", "convert", "transfers"):
            await look(id_)
            await press("back")
        for id_ in ("journal", "alerts", "money", "trips"):
            await look(id_)
            await look("filter")
            await pilot.press("z", "z", "z", "z", "z")
            await look()
            await press("back")
            if id_ != "money":
                await press("back")
    assert {"back", "filter", "accounts", "test_alert", "period_before", "sort", "read_all"} - named == set()
