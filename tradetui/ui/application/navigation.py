"""The two lists for going elsewhere: the screens of this account, and the profiles, each of which is an account.

Each profile is named with host, UID and mode, so that nobody opens live trading for a demo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from rich.cells import cell_len
from textual.app import App

from tradetui.desk.desk import Desk
from tradetui.desk.settings import Access
from tradetui.desk.tables.table import LOOKUPS, PANELS, TABLES
from tradetui.ui.app_protocols import OpenLookup, TradingApp, ask_in_dialog
from tradetui.ui.dialogs.question_dialogs import ChoiceDialog
from tradetui.ui.key_bindings.binding_registry import BINDING_OF_ID
from tradetui.ui.settings.ui_settings import KEY_READS_ONLY, ProfileChoice, ProfileSummary
from tradetui.ui.table.desk_screen import DeskScreen
from tradetui.wire.text import scrub

SUMMARY_S: Final = 0.8  # seconds to wait for a profile's configuration in the list of profiles
UNKNOWN_UID: Final = "UID known once open"
_MODES: Final = {Access.MONITOR: "monitor", Access.KEY_READS_ONLY: KEY_READS_ONLY}
_TITLES: Final = {"money": "Money", "alerts": "Alerts", "journal": "Journal", "create": "Create …"}
"""Titles of bindings that open a screen without a single table."""


def open_screen_list(screen: DeskScreen) -> None:
    titles = {**{name: table.title for name, table in TABLES.items()}, **_TITLES}
    names = [*PANELS, *(name for name in (*LOOKUPS, *_TITLES) if screen.blocking_reason(name) is None)]

    async def go(index: int) -> None:
        if (name := names[index]) in LOOKUPS:
            screen.post_message(OpenLookup(name))
        elif name in _TITLES:
            await screen.run_action(BINDING_OF_ID[name].action)
        else:
            await screen.trade_app.open_panel(name)

    options = [f"{screen.key_named(name)} {titles[name]}" for name in names]
    chosen = names.index(screen.screen_name) if screen.screen_name in names else 0
    ask_in_dialog(screen, ChoiceDialog("Screens", options, chosen), go)


async def ask_for_profile(app: App[Any]) -> None:
    """Show the profiles with what their configuration says now, and open the chosen one."""
    trading_app = cast(TradingApp, app)
    profiles, inline = trading_app.settings.profiles, trading_app.settings.inline_start
    summaries = await asyncio.gather(*(_summary(profile, trading_app.desk, inline=inline) for profile in profiles))

    def pick(index: int) -> None:
        if index != trading_app.chosen or trading_app.desk is None:
            trading_app.open_profile(index)

    names = [profile.name for profile in profiles]
    lines = profile_lines(names, summaries, None if trading_app.desk is None else trading_app.chosen)
    ask_in_dialog(app, ChoiceDialog("Profiles", lines, trading_app.chosen), pick)


async def _summary(profile: ProfileChoice, desk: Desk | None, *, inline: bool) -> ProfileSummary:
    """A profile's line; of the open one, what its desk knows, which may be more than its configuration says."""
    if inline:
        summary = profile.summary()
    else:
        try:
            async with asyncio.timeout(SUMMARY_S):
                summary = await asyncio.to_thread(profile.summary)
        except TimeoutError:
            return ProfileSummary(trouble="its configuration could not be read in time")
    if desk is None or desk.settings.name != profile.name:
        return summary
    uid = desk.account.uid if desk.account is not None else None
    mode = _MODES.get(desk.access, "trade")
    return summary._replace(uid=uid or summary.uid, mode=mode, trouble="")


def profile_lines(names: Sequence[str], summaries: Sequence[ProfileSummary], open_index: int | None) -> list[str]:
    """One line per profile, their figures aligned; `open_index` is None where none is open."""
    sound, rows = [], []
    for index, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        state = "open" if index == open_index else ""
        figures = (
            (summary.trouble, "", "") if summary.trouble else (summary.host, summary.uid or UNKNOWN_UID, summary.mode)
        )
        row = [scrub(text) for text in (name, *figures, state)]
        rows.append(row)
        if not summary.trouble:
            sound.append(row)
    # A sentence about what is wrong may be long; the figures of the others stay beside each other all the same.
    name_width = max((cell_len(row[0]) for row in rows), default=0)
    widths = [name_width, *(max((cell_len(row[column]) for row in sound), default=0) for column in range(1, 5))]
    return [
        "  ".join(text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
