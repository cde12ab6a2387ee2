"""The command palette: every action of the screen by name, and what has no key: mouse, configuration and themes.

A configuration that is read again counts at once where it is stricter; looser limits wait for a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Provider

from tradetui.ui.app_protocols import OpenCreation, TradingApp
from tradetui.ui.intents.creation.titles import choices
from tradetui.ui.key_bindings.binding_registry import BINDINGS, shown_keys
from tradetui.ui.safe_text import notify
from tradetui.ui.settings.themes import THEMES

if TYPE_CHECKING:
    from tradetui.ui.settings.ui_settings import ConfigurationReload

NO_FILE: Final = "There is no configuration to read: this session was started without one."
UNCHANGED: Final = "The configuration was read again. Nothing in it has changed for this session."
READ_S: Final = 30.0  # seconds for which the result is shown: it may be long
_NOT_LISTED = frozenset({"palette", "back", "up", "down", "left", "right", "page_up", "page_down", "first", "last"})


class PaletteEntry(NamedTuple):
    name: str
    about: str
    run: Callable[[], object]


class Actions(Provider):
    """Offers everything that the open screen can do, whatever key it has, and what has no key."""

    async def discover(self) -> Hits:
        for entry in self._entries():
            yield DiscoveryHit(entry.name, entry.run, help=entry.about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._entries():
            score = matcher.match(entry.name)
            if score > 0:
                yield Hit(score, matcher.highlight(entry.name), entry.run, help=entry.about)

    def _entries(self) -> Iterator[PaletteEntry]:
        app = cast(TradingApp, self.app)
        screen = app.keyed_screen
        for binding in BINDINGS:
            if binding.id not in _NOT_LISTED and screen.where in binding.where and not screen.hides(binding.id):
                keys = shown_keys(app.settings.keys.get(binding.id, binding.keys))
                reason = screen.blocking_reason(binding.id)
                about = f"{binding.tooltip} ({keys})" if reason is None else f"not now: {reason}"
                yield PaletteEntry(binding.description, about, partial(screen.run_action, binding.action))
        if app.settings.mouse:
            about = "leave the mouse to the terminal, whose own selection works then"
            yield PaletteEntry("Mouse off", about, partial(app.use_mouse, on=False))
        else:
            yield PaletteEntry("Mouse on", "click and scroll here again", partial(app.use_mouse, on=True))
        about = "read the file again; stricter limits count at once, looser ones after a restart"
        yield PaletteEntry("Reload configuration", about, partial(reload_configuration, self.app))
        creation = app.desk.creation if app.desk is not None else None
        for name in () if creation is None else choices(creation):
            run = partial(self.app.post_message, OpenCreation(name))
            yield PaletteEntry(name, "a new key is saved before it is shown", run)
        for theme in THEMES:
            name = f"Theme {theme.name.removeprefix('tradetui-')}"
            yield PaletteEntry(name, "colours of the screen", partial(app.choose_theme, theme.name))


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
