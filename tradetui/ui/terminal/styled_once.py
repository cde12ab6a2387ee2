"""A screen that is styled once as it opens: Textual does it again as it comes to the front and as it gets its size."""

from __future__ import annotations

from textual import events, on
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget


class StyledOnce(Screen[ScreenResultType]):
    """Its widgets are styled as they are mounted, with the classes of the terminal's size."""

    def take_size_classes(self, terminal: Size) -> None:
        """Take the classes of the breakpoints before anything is styled."""
        for length, breakpoints in (
            (terminal.width, self.HORIZONTAL_BREAKPOINTS),
            (terminal.height, self.VERTICAL_BREAKPOINTS),
        ):
            self.add_class(*self._get_breakpoint_classes(length, breakpoints or []), update=False)

    @on(events.ScreenResume)
    def _keep_first_styles(self, event: events.ScreenResume) -> None:
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        # A screen that goes has nothing left to focus, and needs no styles without it.
        if avoiding is None or self not in avoiding:
            super()._reset_focus(widget, avoiding)

    def _screen_resized(self, size: Size) -> None:
        # A screen is told its first size after it was laid out for it. Later it may have arranged itself since then.
        if self.stack_updates > 1 or size != self._compositor.size or self._layout_widgets:
            super()._screen_resized(size)
