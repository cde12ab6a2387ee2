"""A scroll view that goes to another line, or gets other contents, without drawing all of its lines again."""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView


class StillScrollView(ScrollView):
    """Whoever scrolls or resizes it by these methods repaints only the lines that look different."""

    def show_from(self, y: int) -> None:
        # Not `scroll_to`, which repaints every line: most of them look as they did.
        self.set_reactive(StillScrollView.scroll_y, float(y))
        self.set_reactive(StillScrollView.scroll_target_y, float(y))
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = y

    def resize_contents(self, size: Size) -> None:
        """Update the scroll bars; the whole screen is laid out only if one of them appears or goes."""
        if size == self.virtual_size:
            return
        tall = size.height > self.size.height
        if self.size and tall == self.show_vertical_scrollbar:
            self.set_reactive(StillScrollView.virtual_size, size)
            if tall:
                self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def repaint_line(self, line: int) -> None:
        self.refresh(Region(0, line, self.size.width, 1))
