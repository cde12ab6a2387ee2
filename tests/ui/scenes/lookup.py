"""Each lookup in every state, and its form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.desk.fixtures.lookup_session import ACCOUNTS
from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.scenes.plays import in_turn
from tests.ui.scenes.scene import Scene
from tradetui.desk.tables.table import LOOKUPS

KEYS = {"spot-fills": "6", "spot-bills": "7", "convert": "8", "transfers": "9", "email": "0"}
SIZE, NARROW = (100, 28), (60, 20)
_OPEN_S = 3.0
"""A lookup covers the panels, so that it need not wait until these are full."""
_WIDE_RANGE = {"startTime": "30d", "endTime": "0d"}
_EMPTY_RANGE = {"startTime": "89d", "endTime": "89d"}
FULL: Mapping[str, Mapping[str, str]] = {
    "spot-fills": {},
    "spot-bills": {},
    "convert": {},
    "transfers": _WIDE_RANGE,
    "email": {"subUid": "4200000002"},
}
"""The query of each kind that has rows."""
REFUSED = {"email": {"subUid": "1"}}
"""A query the exchange refuses; the other kinds fail because the exchange is busy."""
WRONG: Mapping[str, Mapping[str, str]] = {
    "spot-fills": {"symbol": "BTCUSDT", "startTime": "1d", "endTime": "2d"},
    "spot-bills": {"groupType": "gift", "startTime": "100d", "endTime": "0d"},
    "convert": {"startTime": "soon"},
    "transfers": {"startTime": "30d", "endTime": "", "type": "withdrawal"},
    "email": {"subUid": ""},
}
"""A form of each kind with mistakes in it."""


async def _open(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press(KEYS[table])
    await _wait(pilot)


async def _ask(stage: AppOnSandbox, pilot: Pilot[None], texts: Mapping[str, str]) -> None:
    """Fill in the form, which may be open already, and submit it."""
    if not stage.app.screen.query(Input):
        await pilot.press("f")
        await pilot.pause()
    for box in stage.app.screen.query(Input):
        box.value = texts.get((box.id or "").removeprefix("field-"), "")
    await pilot.pause()
    await pilot.press("enter")
    await pilot.pause()


async def _wait(pilot: Pilot[None], seconds: float = 1.0) -> None:
    await asyncio.sleep(seconds)
    await pilot.pause()


async def _full(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    if table in REFUSED:
        await _ask(stage, pilot, FULL[table])
    await _wait(pilot, 3)


async def _empty(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _open(table, stage, pilot)
    if stage.app.screen.query(Input):
        # A kind with a required field has no empty result: this is the screen before its first query.
        await pilot.press("escape")
    else:
        await _ask(stage, pilot, _EMPTY_RANGE)
    await _wait(pilot, 3)


async def _failed(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    if table not in REFUSED:
        stage.sandbox.faults.plan("5xx", endpoint=LOOKUPS[table].endpoint_name, times=2)
    await _ask(stage, pilot, REFUSED.get(table, FULL[table]))
    await _wait(pilot, 3)


async def _loading(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.plan("delay", endpoint=LOOKUPS[table].endpoint_name)
    await _ask(stage, pilot, FULL[table])


async def _form(table: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    if not stage.app.screen.query(Input):
        await pilot.press("f")
        await pilot.pause()
    for name, text in WRONG[table].items():
        stage.app.screen.query_one(f"#field-{name}", Input).value = text
    await pilot.press("tab")
    await _wait(pilot)


FULL_SHOWS: Mapping[str, tuple[str, ...]] = {
    "spot-fills": ("6 Spot fills 100", "Totals of the rows loaded"),
    "spot-bills": ("7 Spot bills 500", "Totals of the rows loaded"),
    "convert": ("8 Convert history 100", "Totals of the rows loaded"),
    "transfers": ("9 Sub-account transfers 124", "Totals of the rows loaded"),
    "email": ("0 Sub-account e-mail 1", "desk2@broker.example"),
}
EMPTY_SHOWS = {
    "spot-fills": ("No spot fill matches this query.",),
    "spot-bills": ("No spot bill matches this query.",),
    "convert": ("Nothing was converted in this time.",),
    "transfers": ("No deposit or withdrawal in this time.",),
    "email": ("This needs a query first.",),
}
BUSY = ("The exchange is busy or under maintenance: HTTP status 502", "failed, u tries again")
FAILED_SHOWS = {table: BUSY for table in LOOKUPS} | {"email": ("subUid does not belong to this broker (40066)",)}
LOADING_SHOWS = {table: ("0 rows · reading …",) for table in LOOKUPS}
FORM_SHOWS = {
    "spot-fills": ("Fill in or correct: From.",),
    "spot-bills": ("Fill in or correct: Group, To.",),
    "convert": ("Fill in or correct: From.",),
    "transfers": ("Fill in or correct: To.",),
    "email": ("Fill in or correct: Sub-account.",),
}


async def _leave(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """Leave form and lookup."""
    await pilot.press("escape", "escape")
    await pilot.pause()


def _states() -> Iterator[tuple[str, Scene]]:
    """The states of the lookups, one after the other as long as the account is the same."""
    scene: Scene | None = None
    for table in LOOKUPS:
        if scene is None or scene.account != ACCOUNTS[table]:
            scene = Scene(
                SIZE,
                EMPTY_SHOWS[table],
                partial(_empty, table),
                account=ACCOUNTS[table],
                stage=AppOnRecentFills,
                after=_OPEN_S,
            )
        else:
            scene = scene.then(EMPTY_SHOWS[table], in_turn(_leave, partial(_empty, table)))
        yield f"{table}-empty", scene
        scene = scene.then(FAILED_SHOWS[table], partial(_failed, table))
        yield f"{table}-failed", scene
        scene = scene.then(LOADING_SHOWS[table], partial(_loading, table))
        yield f"{table}-loading", scene
        scene = scene.then(FULL_SHOWS[table], partial(_full, table))
        yield f"{table}-full", scene
        scene = scene.then(FULL_SHOWS[table], size=NARROW)
        yield f"{table}-narrow", scene
        scene = scene.then(FORM_SHOWS[table], partial(_form, table), size=SIZE)
        yield f"{table}-form", scene


SCENES = dict(_states())
