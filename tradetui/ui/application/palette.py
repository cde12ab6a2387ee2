"""The command palette: every action of the screen by name, and every theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tradetui.ui.app_protocols import OpenCreation, TradingApp
from tradetui.ui.application.configuration_reload import reload_configuration
from tradetui.ui.intents.creation.titles import choices
from tradetui.ui.key_bindings.binding_registry import BINDINGS, shown_keys
from tradetui.ui.settings.themes import THEMES

_NOT_LISTED = frozenset({"palette", "back", "up", "down", "left", "right", "page_up", "page_down", "first", "last"})


class Actions(Provider):
    async def discover(self) -> Hits:
        for name, about, run in self._entries():
            yield DiscoveryHit(name, run, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, about, run in self._entries():
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=about)

    def _entries(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        app = cast(TradingApp, self.app)
        screen = app.keyed_screen
        for binding in BINDINGS:
            if binding.id not in _NOT_LISTED and screen.where in binding.where and not screen.hides(binding.id):
                keys = shown_keys(app.settings.keys.get(binding.id, binding.keys))
                reason = screen.blocking_reason(binding.id)
                about = f"{binding.tooltip} ({keys})" if reason is None else f"not now: {reason}"
                yield binding.description, about, partial(screen.run_action, binding.action)
        if app.settings.mouse:
            about = "leave the mouse to the terminal, whose own selection works then"
            yield "Mouse off", about, partial(app.use_mouse, on=False)
        else:
            yield "Mouse on", "click and scroll here again", partial(app.use_mouse, on=True)
        about = "read the file again; stricter limits count at once, looser ones after a restart"
        yield "Reload configuration", about, partial(reload_configuration, self.app)
        creation = app.desk.creation if app.desk is not None else None
        if creation is not None:
            for name in choices(creation):
                yield name, "a new key is saved before it is shown", partial(self.app.post_message, OpenCreation(name))
        for theme in THEMES:
            yield (
                f"Theme {theme.name.removeprefix('tradetui-')}",
                "colours of the screen",
                partial(app.choose_theme, theme.name),
            )
