"""What the keys do to rows and to the view: filter, sort, copy, detail, product type, pause, time zone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Input, Static

from tradetui.desk.columns import COLUMNS
from tradetui.ui.layout import PANELS
from tradetui.ui.panels import TITLES
from tradetui.ui.record_table import RecordTable
from tradetui.ui.safe import plain, tell
from tradetui.ui.screens.five_panels import FivePanels
from tradetui.ui.screens.table_tools import choose_columns, export_table
from tradetui.ui.zones import zone_label

if TYPE_CHECKING:
    from tradetui.desk.feed import Feed

PAUSED = "PAUSED: rows stand still while reading goes on · Space resumes"


class RowActions(FivePanels):
    """The five panels and what can be done with their rows."""

    def action_table(self, name: str) -> None:
        """Move the cursor."""
        getattr(self.table, f"action_{name}")()

    def action_focus_table(self) -> None:
        """From the filter's box to the rows; the filter stays."""
        self.table.focus()

    # Detail

    def action_detail(self) -> None:
        """Every field of the row under the cursor."""
        if self.able("detail"):
            self.table.action_select()

    @on(RecordTable.RowSelected)
    def _selected(self, event: RecordTable.RowSelected) -> None:
        from tradetui.ui.screens.detail import DetailScreen

        name = self.focused_panel
        self.app.push_screen(DetailScreen(TITLES[name], event.key, event.record, self.zone, name))

    def published(self, feed: Feed | None) -> None:
        """As the panels do; an open detail view follows its row."""
        super().published(feed)
        if feed is not None and not self.paused and self.app.screen is not self:
            from tradetui.ui.screens.detail import DetailScreen

            if isinstance(self.app.screen, DetailScreen):
                self.app.screen.follow(feed.name, self.rows_of(feed.name))

    # Filter

    def action_filter(self) -> None:
        """Open the filter's box for the panel that has the focus; it filters as one types."""
        if self.query("#filter"):
            self.query_one("#filter", Input).focus()
            return
        box = Input(self.table.pattern, id="filter", placeholder="text or regular expression; ! first inverts it")
        box.border_title = plain(f"filter {TITLES[self.focused_panel].lower()}")
        box.cursor_blink = False
        self.mount(box, before="#hints")
        box.focus()
        self.call_after_refresh(self.refresh_states)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.table.filter(event.value)
        self.refresh_states()

    @on(Input.Submitted, "#filter")
    async def action_keep_filter(self) -> None:
        """Close the box and keep what it says."""
        await self._close_filter()

    async def _close_filter(self) -> None:
        # The focus goes first: taken from what is removed it would go to whichever panel comes next.
        self.set_focus(self.table)
        await self.query("#filter").remove()
        self.refresh_states()

    async def action_back(self) -> None:
        """Close the filter's box, clear the filter, leave zoom, or resume: the innermost of these first."""
        if self.query("#filter"):
            self.table.filter("")
            await self._close_filter()
        elif self.table.pattern:
            self.table.filter("")
            self.refresh_states()
        elif self._zoomed:
            self.action_zoom()
        elif self.paused:
            self.resume()

    async def action_panel(self, name: str) -> None:
        """Another panel has another filter: the box is closed, what it says stays."""
        if self.query("#filter"):
            await self._close_filter()
        self.go_to(name)

    async def action_next_panel(self, by: int) -> None:
        """Focus the next or the one before."""
        await self.action_panel(PANELS[(PANELS.index(self.focused_panel) + by) % len(PANELS)])

    # Sort and copy

    def action_sort(self) -> None:
        """By the column under the cursor; by the same once more, in the feed's own order."""
        table, column = self.table, self.table.cursor_column
        same = table.sort is not None and table.sort.column == column.id
        table.sort_by(None if same else column.id)
        self._remember_sort()
        self.refresh_states()

    def action_sort_reverse(self) -> None:
        """Turn the order round."""
        sort = self.table.sort
        if self.able("sort_reverse") and sort is not None:
            self.table.sort_by(sort.column, not sort.reverse)
            self._remember_sort()

    @on(RecordTable.HeaderSelected)
    def _remember_sort(self) -> None:
        app, sort = self.trade_app, self.table.sort
        choice = replace(
            app.choices.table(self.focused_panel),
            sort=None if sort is None else sort.column,
            reverse=sort is not None and sort.reverse,
        )
        app.remember_table(self.focused_panel, choice)

    def action_copy_cell(self) -> None:
        """Copy the cell under the cursor."""
        if self.able("copy_cell"):
            self.trade_app.copy(self.table.cell_text(), self.table.cursor_column.title)

    def action_copy_row(self) -> None:
        """Copy the row under the cursor."""
        if self.able("copy_row"):
            self.trade_app.copy(self.table.row_text(), "row")

    def action_columns(self) -> None:
        """Choose the columns of this panel."""
        name = self.focused_panel
        choose_columns(self.trade_app, self.table, name, TITLES[name], COLUMNS[name], self.refresh_states)

    def action_export(self) -> None:
        """Write the rows of this panel into a file."""
        if self.able("export"):
            name = self.focused_panel
            export_table(self.trade_app, self.table, name, TITLES[name].lower())

    # View

    def action_live_stops(self) -> None:
        """Triggers that still wait, or those that ended."""
        if not self.able("live_stops"):
            return
        self.live_stops = not self.live_stops
        self.panels["triggers"].live = self.live_stops
        self.go_to("triggers")
        self.repaint("triggers")

    def action_product(self) -> None:
        """The next product type, after the last one all of them."""
        if not self.able("product") or self.desk is None:
            return
        types = [None, *map(str, self.desk.settings.product_types)]
        self.show_product(types[(types.index(self.product) + 1) % len(types)])
        tell(self.app, f"Showing {self.product or 'all product types'}.", seconds=2)

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
            tell(self.app, f"Reading {TITLES[self.focused_panel].lower()} …", seconds=1.5)

    def action_pause(self) -> None:
        """Let the rows stand still to be read, or move on."""
        if self.paused:
            self.resume()
            return
        self.paused = True
        banner = self.query_one("#banner", Static)
        banner.update(plain(PAUSED))
        banner.display = True
        self._show_hints()

    def resume(self) -> None:
        """Paint again, everything that came in between first."""
        if self.paused:
            self.paused = False
            self.query_one("#banner").display = False
            self.published(None)
            self._show_hints()

    def action_zone(self) -> None:
        """Times in UTC, or in the profile's own zone."""
        self.zone = UTC if self.zone is not UTC else self._home_zone
        for panel in self.panels.values():
            panel.table.set_zone(self.zone)
        self.refresh_states()
        tell(self.app, f"Times are in {zone_label(self.zone)}.", seconds=2)

    # Elsewhere

    def action_help(self) -> None:
        """Every key and what it does."""
        self.trade_app.action_help()

    def action_leave(self) -> None:
        """Quit."""
        self.trade_app.action_leave()

    def action_profile(self) -> None:
        """Pick another account."""
        if not self.able("profile"):
            return
        from tradetui.ui.dialogs.choice import ChoiceDialog

        app = self.trade_app
        names = [profile.name for profile in self._settings.profiles]

        def pick(place: int | None) -> None:
            if place is not None and place != app.chosen:
                app.open_profile(place)

        app.push_screen(ChoiceDialog("Profile", names, app.chosen), pick)

    async def action_screens(self) -> None:
        """The list of everything that can be opened."""
        from tradetui.ui.dialogs.choice import ChoiceDialog

        async def go(place: int | None) -> None:
            if place is not None:
                await self.action_panel(PANELS[place])

        names = [f"{number} {TITLES[name]}" for number, name in enumerate(PANELS, start=1)]
        self.app.push_screen(ChoiceDialog("Screens", names, PANELS.index(self.focused_panel)), go)
