"""Bases of screens and widgets that style, colour and paint once what Textual does twice, so that keys show sooner."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size
from textual.screen import Screen, ScreenResultType
from textual.scroll_view import ScrollView
from textual.widget import Widget


class StyledOnce(Screen[ScreenResultType]):
    """A screen whose widgets are styled as they are mounted, with the classes of the terminal's size.

    Textual styles them again as the screen comes to the front and as it gets its size.
    """

    def take_size_classes(self, terminal: Size) -> None:
        """Take the classes of the breakpoints before anything is styled."""
        widths, heights = self.HORIZONTAL_BREAKPOINTS or [], self.VERTICAL_BREAKPOINTS or []
        self.add_class(*self._get_breakpoint_classes(terminal.width, widths), update=False)
        self.add_class(*self._get_breakpoint_classes(terminal.height, heights), update=False)

    @on(events.ScreenResume)
    def _keep_first_styles(self, event: events.ScreenResume) -> None:
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        # A screen that is closing has nothing left to focus, and need not be styled once more.
        if avoiding is None or self not in avoiding:
            super()._reset_focus(widget, avoiding)

    def _screen_resized(self, size: Size) -> None:
        # The first size comes after the screen was laid out for it; later the screen may have changed since.
        if self.stack_updates > 1 or size != self._compositor.size or self._layout_widgets:
            super()._screen_resized(size)


class TrueColours(Widget):
    """A widget that draws in the theme's true colours, none of them dimmed.

    Textual would keep a second strip of each of its lines, with colours that were translated to themselves.
    """

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [used for used in super().get_line_filters() if not isinstance(used, ANSIToTruecolor)]


class LinewiseScrollView(ScrollView):
    """Whoever scrolls or resizes it by these methods repaints only the lines that look different."""

    def show_from(self, y: int) -> None:
        # `scroll_to` would repaint every line, but most of them look as they did.
        self.set_reactive(LinewiseScrollView.scroll_y, float(y))
        self.set_reactive(LinewiseScrollView.scroll_target_y, float(y))
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = y

    def resize_contents(self, size: Size) -> None:
        """Update the scroll bars; the whole screen is laid out only if one of them appears or goes."""
        if size == self.virtual_size:
            return
        tall = size.height > self.size.height
        if self.size and tall == self.show_vertical_scrollbar:
            self.set_reactive(LinewiseScrollView.virtual_size, size)
            if tall:
                self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def repaint_line(self, line: int) -> None:
        self.refresh(Region(0, line, self.size.width, 1))
