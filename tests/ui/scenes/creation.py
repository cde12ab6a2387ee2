"""Creating sub-accounts and API keys: forms, reviews and results."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.scenes.scene import Scene
from tradetui.ui.app_protocols import OPEN_CREATION
from tradetui.ui.intents.creation.titles import ISSUED_KEYS, TITLES, choices

SIZE = (110, 44)
_ROW = {"subAccountName": "alphaone", "passphrase": "Passphrase1", "label": "grid desk", "permList": "read"}


def _fill(stage: AppOnSandbox, row: int, **values: str) -> None:
    for field, text in values.items():
        stage.app.screen.query_one(f"#box-{row}-{field}", Input).value = text


async def _open(stage: AppOnSandbox, pilot: Pilot[None], name: str) -> None:
    stage.sandbox.exchange_state.stands_still = True
    await pilot.press("N")
    await asyncio.sleep(0.2)
    await pilot.pause()
    assert stage.desk.creation is not None
    await pilot.press(*["down"] * choices(stage.desk.creation).index(name), "enter")
    await asyncio.sleep(0.3)
    await pilot.pause()


async def _form(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press("escape")
    await _open(stage, pilot, TITLES["create-subaccounts"])
    _fill(stage, 0, **_ROW, ipList="203.0.113.7")
    _fill(stage, 1, subAccountName="beta", passphrase="short", permList="read withdraw")
    await pilot.pause()


async def _review(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    _fill(stage, 0, **_ROW, ipList="203.0.113.7")
    _fill(stage, 1, **{**_ROW, "subAccountName": "betatwos", "permList": "read contract_trade"})
    await pilot.press("enter")
    await asyncio.sleep(1)
    await pilot.pause()


async def _send(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press("tab", "enter")
    await asyncio.sleep(3)
    await pilot.pause()


async def _unknown(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press("escape")
    await _open(stage, pilot, TITLES["create-subaccounts"])
    await _review(stage, pilot)
    stage.sandbox.faults.plan("dropped-after", endpoint="subaccounts.create_batch")
    await _send(stage, pilot)


async def _broker(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _open(stage, pilot, TITLES["create-broker-subaccount"])
    _fill(stage, 0, subaccountName="desk4@broker.example", label="desk 4")
    await pilot.press("enter")
    await asyncio.sleep(1)
    await _send(stage, pilot)


async def _copy_form(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _open(stage, pilot, TITLES["create-copy-key"])
    await pilot.press(*"short", "tab")
    await pilot.pause()


async def _copy_refused(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _open(stage, pilot, TITLES["create-copy-key"])
    _fill(stage, 0, passphrase="Passphrase1")
    await pilot.press("enter")
    await asyncio.sleep(1)
    await _send(stage, pilot)


async def _no_keys(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    assert stage.desk.creation is not None
    OPEN_CREATION(stage.app.main.app, stage.desk.creation, ISSUED_KEYS)
    await asyncio.sleep(0.3)
    await pilot.pause()


_FORM = ("Create sub-accounts with API keys", "Name: 8 English letters. Give exactly 8", "still needed: note")
_REVIEW = ("Sent once, exactly so; passphrases are covered here:", '"passphrase": "***"', "Create 2")
_RESULT = ("2 of 2 created with a key", "✓ alphaone     created", "secret        ••••••••••••")

_scene = partial(Scene, stage=AppOnRecentFills, after=3.0)
"""What is created covers the panels, so that it need not wait until these are full."""
_none = _scene(SIZE, ("tradetui has not created an API key for this account yet.",), _no_keys)
_filled = _none.then(_FORM, _form)
_filled_small = _filled.then(_FORM, size=(80, 24))
_reviewed = _filled_small.then(_REVIEW, _review, size=SIZE)
_reviewed_small = _reviewed.then(_REVIEW, size=(80, 24))
_created = _reviewed_small.then(_RESULT, _send, size=SIZE)
_created_small = _created.then(_RESULT, size=(80, 24))
SCENES = {
    "keys-none": _none,
    "create-form": _filled,
    "create-form-80x24": _filled_small,
    "create-review": _reviewed,
    "create-review-80x24": _reviewed_small,
    "create-result": _created,
    "create-result-80x24": _created_small,
    "create-unknown": _created_small.then(
        ("It is not known what was created", "? betatwos     not known: it may have been created"), _unknown, size=SIZE
    ),
    "create-broker-result": _scene(SIZE, ("✓ desk4@broker.example created: UID",), _broker, account="broker"),
    "create-copy-form": _scene(
        SIZE, ("Create the copy-trading key", "Choose 8 to 32 of a-z"), _copy_form, account="copy-new"
    ),
    "create-copy-refused": _scene(
        SIZE, ("Refused: nothing was created", "31902)."), _copy_refused, account="at-limits"
    ),
}
