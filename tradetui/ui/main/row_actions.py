"""What the keys do to the view of the five panels: product type, pause, polling, profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from tradetui.desk.tables.table import PANELS, TRIGGERS
from tradetui.ui.app_protocol import FollowsRow
from tradetui.ui.dialogs.choice import ChoiceDialog
from tradetui.ui.main.five_panels import FivePanels
from tradetui.ui.messages import OpenHistory
from tradetui.ui.sanitize import notify, sanitized

if TYPE_CHECKING:
    from tradetui.desk.feeds.feed import Feed
    from tradetui.desk.tables.row_source import FeedRow

LIVE_FILE = "live-stops"
PAUSED = "PAUSED: rows stand still while reading goes on · Space resumes"


class RowActions(FivePanels):
    """The five panels and what can be done with their view."""

    @property
    def subject(self) -> str:
        """What the rows of the focused panel are called now."""
        return self.panel.title

    @property
    def export_name(self) -> str:
        """Triggers that still wait are not in the history, so neither are they in its file."""
        return LIVE_FILE if self.panel.live else super().export_name

    def published(self, feed: Feed[FeedRow] | None) -> None:
        """As the panels do; an open detail view follows its row."""
        super().published(feed)
        if feed is not None and not self.paused and isinstance(self.app.screen, FollowsRow):
            self.app.screen.follow(feed.name, self.rows_of(feed.name))

    async def action_back(self) -> None:
        """Close the filter's box, clear the filter, leave zoom, or resume: the innermost of these first."""
        if await self.drop_filter():
            return
        if self._zoomed:
            self.action_zoom()
        elif self.paused:
            self.resume()

    async def action_panel(self, name: str) -> None:
        """Another panel has another filter: the box is closed, what it says stays."""
        if self.query("#filter"):
            await self.close_filter()
        self.go_to(name)

    async def action_next_panel(self, by: int) -> None:
        """Focus the next or the one before."""
        names = tuple(PANELS)
        await self.action_panel(names[(names.index(self.focused_panel) + by) % len(names)])

    # View

    def action_history(self) -> None:
        """Everything that was ever seen of this panel's rows."""
        if self.able("history"):
            self.post_message(OpenHistory(self.focused_panel))

    def action_live_stops(self) -> None:
        """Triggers that still wait, or those that ended."""
        if not self.able("live_stops"):
            return
        self.live_stops = not self.live_stops
        self.panels[TRIGGERS.name].live = self.live_stops
        self.go_to(TRIGGERS.name)
        self.repaint(TRIGGERS.name)

    def action_product(self) -> None:
        """The next product type, after the last one all of them."""
        if not self.able("product") or self.desk is None:
            return
        types = [None, *map(str, self.desk.settings.product_types)]
        self.show_product(types[(types.index(self.product) + 1) % len(types)])
        notify(self.app, f"Showing {self.product or 'all product types'}.", seconds=2)

    def show_product(self, product: str | None) -> None:
        """Show the rows of one product type, or of all."""
        self.product = product
        for panel in self.panels.values():
            panel.product = product
            panel.table.keep_only(None if product is None else lambda row: str(row.product_type) == product)
        self.refresh_states()

    def action_poll_now(self) -> None:
        """Read this panel again at once."""
        if self.able("poll_now") and self.desk is not None:
            self.desk.poll_now(self.focused_panel)
            notify(self.app, f"Reading {self.panel.kind.title.lower()} …", seconds=1.5)

    def action_pause(self) -> None:
        """Let the rows stand still to be read, or move on."""
        if self.paused:
            self.resume()
            return
        self.paused = True
        banner = self.query_one("#banner", Static)
        banner.update(sanitized(PAUSED))
        banner.display = True
        self._show_hints()

    def resume(self) -> None:
        """Paint again, everything that came in between first."""
        if self.paused:
            self.paused = False
            self.query_one("#banner").display = False
            self.published(None)
            self._show_hints()

    # Elsewhere

    def action_profile(self) -> None:
        """Pick another account."""
        if not self.able("profile"):
            return
        app = self.trade_app
        names = [profile.name for profile in self._settings.profiles]

        def pick(index: int | None) -> None:
            if index is not None and index != app.chosen:
                app.open_profile(index)

        self.app.push_screen(ChoiceDialog("Profile", names, app.chosen), pick)
