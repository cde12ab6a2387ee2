"""Reads the configuration again while the program runs: stricter limits count at once, looser ones after a restart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from textual.app import App

from tradetui.ui.app_protocols import TradingApp
from tradetui.ui.safe_text import notify

if TYPE_CHECKING:
    from tradetui.ui.settings.ui_settings import ConfigurationReload

NO_FILE: Final = "There is no configuration to read: this session was started without one."
UNCHANGED: Final = "The configuration was read again. Nothing in it has changed for this session."
READ_S: Final = 30.0
"""Seconds for which the result is shown: it may be long."""


def reload_configuration(app: App[Any]) -> None:
    """Read the configuration of the open profile again, apply what may change, and show the result."""
    app.run_worker(_reload(app), group="configuration", exclusive=True, exit_on_error=False)


async def _reload(app: App[Any]) -> None:
    trading_app = cast(TradingApp, app)
    reload = trading_app.settings.profiles[trading_app.chosen].reload
    if reload is None:
        notify(app, NO_FILE, severity="warning", seconds=8)
        return
    try:
        result = reload() if trading_app.settings.inline_start else await asyncio.to_thread(reload)
    except Exception as problem:
        notify(app, f"The configuration was not taken: {problem}", severity="error", seconds=READ_S)
        return
    _apply(trading_app, result)
    # In one message, since a message hides those before it.
    if sentences := _sentences(result):
        is_warning = result.reopens or result.needs_restart
        notify(app, " ".join(sentences), severity="warning" if is_warning else "information", seconds=READ_S)
    else:
        notify(app, UNCHANGED)


def _apply(trading_app: TradingApp, result: ConfigurationReload) -> None:
    if (desk := trading_app.desk) is not None:
        if desk.execution is not None:
            desk.execution.use_limits_of(result.settings)
        desk.zone = result.settings.zone
        if result.alert_rules != desk.alerts.settings.rules:
            desk.alerts.use_rules(result.alert_rules)
    if result.changed_look:
        preferences = trading_app.preferences
        if "theme" in result.changed_look:
            # The theme chosen on the screen would hide the one that was just written.
            preferences = replace(preferences, theme=None)
        trading_app.use_look(replace(result.look, preferences=preferences))
    if result.reopens:
        trading_app.open_profile(trading_app.chosen)


def _sentences(result: ConfigurationReload) -> list[str]:
    sentences = []
    if result.reopens:
        sentences.append("The session is opened again: it may do less than before.")
    if result.taken:
        sentences.append(f"In force now: {'; '.join(result.taken)}.")
    if result.needs_restart:
        sentences.append(f"After a restart, or once the profile is opened again: {'; '.join(result.needs_restart)}.")
    return sentences
