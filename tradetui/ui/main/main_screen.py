"""The main screen: the account's positions, orders, fills, stops and balances live in five panels, and its keys.

A position that has just closed under the cursor: it keeps `R` from reversing the row that took its place.
"""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events, getters, on, work
from textual.app import ComposeResult

from tradetui.desk.settings import Access
from tradetui.desk.tables.rows.filled_order import fill_by_fill
from tradetui.desk.tables.table import PANELS, POSITIONS, TRIGGERS
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import (
    ASK_FOR_PROFILE,
    HISTORY_SCREEN,
    NEW_ALERT_DIALOG,
    REVERSAL_DIALOG,
    SYMBOL_DIALOG,
    FollowsRow,
)
from tradetui.ui.header.header_bar import HeaderBar
from tradetui.ui.header.header_content import show_session
from tradetui.ui.key_bindings.actions import LOCKS_NOBODY, MONITOR_MODE, UNIFIED_IS_READ, Action
from tradetui.ui.key_bindings.key_footer import Hints, hinted_actions
from tradetui.ui.main.hidden_panels import HiddenPanels
from tradetui.ui.main.panel import Panel
from tradetui.ui.main.panel_area import PanelArea
from tradetui.ui.safe_text import Notice, notify, notify_about, withdraw
from tradetui.ui.table.desk_screen import ACCOUNT_UNKNOWN, NEWEST_ALERT, STARTING
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_screen import TableScreen

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import FeedRow, RowSource
    from tradetui.trading.positions import Position
    from tradetui.ui.key_bindings.key_queue import TypedInput
    from tradetui.ui.table.record_table import RecordTable


class VanishedPosition:
    """The position that closed under the cursor since the key before this one; keys of one burst count as one key."""

    def __init__(self, table: RecordTable[Position]) -> None:
        self._table = table
        self.position: Position | None = None

    def note_key(self, *, in_burst: bool) -> None:
        vanished = self._table.cursor.take_vanished()
        if vanished is not None or not in_burst:
            self.position = vanished

    @property
    def sentence(self) -> str:
        """Return why the pressed key acts on no row; empty if no position has closed."""
        if self.position is None:
            return ""
        name = f"{self.position.symbol} {self.position.shown_leg.upper()}"
        return f"{name} has just closed; press the key again for the row under the cursor now."


REFRESHED_EVERY_S = 1.0
_PAUSED: Final = "PAUSED: rows stand still while reading goes on · {pause} resumes"
_PROBED: Final = "The exchange is asked again once a minute."


class MainScreen(TableScreen):
    """Shows the desk; every binding of the registry that belongs to `main` is an action here."""

    where = "main"
    CSS_PATH = Path(__file__).with_name("main.tcss")
    AUTO_FOCUS = ""
    BLANK = True
    _header = getters.query_one(HeaderBar)
    _hidden = getters.query_one(HiddenPanels)
    _banner = getters.query_one("#banner", Notice)
    _refusal = getters.query_one("#refused", Notice)
    _against = getters.query_one("#orders-against", Notice)

    def __init__(self) -> None:
        super().__init__()
        self._area = PanelArea(self.key_named)
        self.panels, self.positions_panel = self._area.panels, self._area.positions_panel
        self.focused_panel: str = POSITIONS.name
        self.paused = False
        self.product: str | None = None  # the product type that is shown; None for all
        self._painted_at = 0.0  # monotonic seconds
        self._day: date | None = None  # the day that times were last shown for
        self._storage_trouble: str | None = None  # the trouble that was shown last
        self._access: Access | None = None  # at the last look; None before a session is open
        self._vanished = VanishedPosition(self.positions_panel.table)

    def compose(self) -> ComposeResult:
        yield HeaderBar(self.settings, self.trade_app.chosen)
        yield Notice("banner")
        yield Notice("refused")
        yield Notice("orders-against")
        yield self._area
        yield HiddenPanels(self.key_named)
        yield Notice(NEWEST_ALERT)
        yield Hints()

    def on_mount(self) -> None:
        self.show_zone()
        self.set_interval(REFRESHED_EVERY_S, self._refresh_ages)
        self._area.use_preferences(self.trade_app.preferences)
        self._arrange()
        self.set_focus(self.table)

    def _compositor_refresh(self) -> None:
        # A screen that is still being composed would be drawn, discarded, and drawn again.
        if not self.app._batch_count:
            super()._compositor_refresh()

    def use_settings(self) -> None:
        self._take_zone()
        self._sorts_before.clear()
        self.show_zone()
        for panel in self.panels.values():
            panel.use_defaults()
        self._area.use_preferences(self.trade_app.preferences)
        self.refresh_states()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    @property
    def panel(self) -> Panel[FeedRow]:
        return self.panels[self.focused_panel]

    @property
    def table(self) -> RecordTable[object]:
        return self.panel.table

    @property
    def subject(self) -> str:
        return self.panel.title

    @property
    def feed_name(self) -> str:
        return self.focused_panel

    screen_name = feed_name

    @property
    def export_name(self) -> str:
        """The other view has other rows, so its file has another name."""
        return self.panel.kind.name if self.panel.other_view is None else self.panel.other_view.file_stem

    @property
    def exported_rows(self) -> RowSource[object]:
        return fill_by_fill(super().exported_rows)

    def show_zone(self) -> None:
        """Show times in the zone with its date, and figures with the decimals known by now."""
        self._day = self.today
        cell_format = self.cell_format
        for panel in self.panels.values():
            panel.set_format(cell_format)

    # News of the desk

    def opening(self, name: str) -> None:
        for panel in self.panels.values():
            panel.reset()
        self.show_product(None)
        self._access = None
        self._refusal.say("")
        self._against.say("")
        # Until the new desk is open, nothing about it is proven.
        self._header.begin("LIVE", "MONITOR", name)
        self._show_hidden(None)
        self.say_newest_alert(None)

    def opened(self) -> None:
        self.show_zone()
        self.set_paces()
        self.refresh_header()
        self.refresh_states()

    def cannot_open(self, why: str) -> None:
        self._header.cannot_open()
        for panel in self.panels.values():
            panel.say_failure(why)
        notify(self.app, why, severity="error", seconds=30)

    def published(self, feed: Feed[FeedRow] | None) -> None:
        """Note a change and paint it with all others of the same moment; None means that only ages changed.

        Behind another screen changes are painted once a second.
        """
        if (desk := self.desk) is None:
            return
        if feed is not None:
            self._area.unpainted.add(feed.name)
            if not self.paused and isinstance(self.app.screen, FollowsRow):
                self.app.screen.follow(feed.name, self._area.rows_of(desk, feed.name))
        # Behind a dialog every paint would draw the dialog again too, so the next second paints the changes.
        if feed is None or self.app.screen is self:
            self.paint_soon()

    def _refresh_ages(self) -> None:
        """Update ages if nothing has been published for a while: every call may be hanging."""
        if self.today != self._day:
            self.show_zone()
        if (desk := self.desk) is not None and desk.clock.monotonic() - self._painted_at >= REFRESHED_EVERY_S:
            self.published(None)

    def paint(self) -> None:
        if (desk := self.desk) is None:
            return
        self._painted_at = desk.clock.monotonic()
        if not self.paused:
            self.show_zone()
            self._area.paint_newest(desk)
            self._area.follow_rows()
            self.refresh_states()
        self.refresh_header()

    def refresh_states(self) -> None:
        if self.desk is not None:
            self._area.show_states(self.desk)
        self._show_hidden(self.desk)
        self._show_hints()

    def refresh_header(self) -> None:
        if (desk := self.desk) is None:
            return
        show_session(self._header, desk, self.key_named)
        health, trouble = desk.health, desk.storage.trouble
        against = desk.orders_against.sentence
        self._against.say(against and f"{against}  !  {self.key_named(Action.BACK)} hides it")
        self._refusal.say(f"{health.sentence}. {health.remedy} {_PROBED}" if health.of_account else "")
        if trouble and trouble != self._storage_trouble:
            notify(self.app, f"Rows are not saved beyond this session: {trouble}", severity="warning", seconds=60)
        self._storage_trouble = trouble
        if desk.access is Access.UNIFIED is not self._access and desk.intents is not None:
            notify(self.app, f"{UNIFIED_IS_READ[:1].upper()}{UNIFIED_IS_READ[1:]}.", severity="warning", seconds=15)
        self._access = desk.access
        if desk.storage.notice:
            notify(self.app, desk.storage.notice, severity="warning", seconds=60)
            desk.storage.notice = ""

    def on_screen_resume(self) -> None:
        self._show_hidden(self.desk)
        if self._area.unpainted:
            self.published(None)

    def show_alert(self) -> None:
        super().show_alert()
        self._show_hidden(self.desk)

    def _show_hidden(self, desk: Desk | None) -> None:
        """Name the hidden panels in one line, or in more if the visible one leaves some free."""
        off_screen = [name for name in PANELS if name not in self._area.shown]
        spare = 1
        if len(self._area.shown) == 1:
            above = self._header.size.height + (self._against.size.height if self._against.display else 0)
            spare = max(1, self.app.size.height - above - 1 - self.panel.full_lines)
        self._hidden.show(off_screen, desk, self.cell_format, spare)

    def _show_hints(self) -> None:
        on_positions = self.focused_panel == POSITIONS.name
        self.show_hints(hinted_actions(on_positions=on_positions, may_trade=self._may_trade), zone_label(self.zone))

    @property
    def _may_trade(self) -> bool:
        """Whether the session may send anything, or is expected to before it is open."""
        if self.desk is None:
            return self.settings.access != Access.MONITOR
        return self.desk.access not in (Access.MONITOR, Access.UNIFIED)

    def reason(self, action: Action) -> str | None:
        desk, table = self.desk, self.panel.kind
        match action:
            case Action.REVERSE | Action.LOCK | Action.LOCK_AT_ONCE if desk is None and self._may_trade:
                return self.trade_app.failure or STARTING
            case Action.REVERSE if desk is not None and desk.access is Access.UNIFIED:
                return UNIFIED_IS_READ
            case Action.REVERSE if not self._may_trade:
                return MONITOR_MODE
            case Action.LOCK | Action.LOCK_AT_ONCE if not self._may_trade:
                return LOCKS_NOBODY
            case Action.VIEW if desk is None or not desk.has_other_view(table.name):
                triggers = "the exchange does not report the stops that wait"
                return triggers if table.name == TRIGGERS.name else "this panel has one view"
            case Action.HISTORY if desk is not None and desk.archive is None and desk.storage.trouble:
                return f"nothing is saved: {desk.storage.trouble}"
            case Action.HISTORY if table.history_title is None or desk is None:
                return "only fills and stops have a history: focus one of them"
            case Action.HISTORY if desk is not None and desk.archive is None:
                return ACCOUNT_UNKNOWN
            case Action.DATES if table.history_title is None or desk is None:
                return "only fills, stops and their history have dates to choose"
            case Action.PRODUCT if desk is not None and len(desk.settings.product_types) < 2:
                return "the profile shows one product type"
            case Action.PROFILE if len(self.settings.profiles) < 2:
                return "there is one profile"
            case Action.POLL_NOW | Action.POSITION_ALERT if desk is None:
                return STARTING
        return super().reason(action)

    def refuses(self, textual_action: str) -> bool:
        if textual_action == Action.REVERSE.textual_action:
            self.resume()  # nobody may trade on figures that stand still
        return super().refuses(textual_action)

    # Layout

    def _arrange(self) -> None:
        revealed = self._area.rearrange(self.app.size, self.focused_panel)
        self._show_hidden(self.desk)
        self.set_paces()
        # A newly visible panel is painted even while others stand still: its rows would be older than theirs.
        if self.desk is not None:
            self._area.paint(self.desk, revealed)
        self.paint_soon()

    def set_paces(self) -> None:
        """Poll visible feeds at their own pace, and hidden or covered ones more slowly."""
        if self.desk is not None:
            for name, panel in self.panels.items():
                self.desk.set_hidden(name, is_hidden=not panel.display or self.trade_app.lookup is not None)

    def go_to(self, name: str) -> None:
        self.focused_panel = name
        self._area.unpainted.add(name)
        self._arrange()
        self.table.focus()

    @on(HiddenPanels.Chosen)
    def _hidden_panel_chosen(self, event: HiddenPanels.Chosen) -> None:
        self.action_alerts() if event.name == "alerts" else self.go_to(event.name)

    def on_descendant_focus(self) -> None:
        for name, panel in self.panels.items():
            if panel.table.has_focus and name != self.focused_panel:
                self.focused_panel = name
        self._show_hidden(self.desk)
        self._show_hints()

    def action_zoom(self) -> None:
        self._area.zoomed = not self._area.zoomed
        self._arrange()

    async def action_back(self) -> None:
        """Close filter box, filter, dates, zoom and pause, then messages, then the orders against a reversal.

        If there is an overview, messages do not keep one from going back to it.
        """
        if await self.drop_filter():
            return
        if self.panel.dates is not None:
            self._show_dates(self.panel, None)
        elif self._area.zoomed:
            self.action_zoom()
        elif self.paused:
            self.resume()
        elif len(self.app._notifications) and not self._can_leave_for_overview:
            self.app.clear_notifications()
        elif self.desk is not None and not self.trade_app.key_order.in_burst:
            if self._can_leave_for_overview:
                self.app.clear_notifications()
                self.trade_app.open_overview()
            self.desk.orders_against.note_seen()
            self.refresh_header()

    @property
    def _can_leave_for_overview(self) -> bool:
        desk = self.desk
        return self.trade_app.overview is not None and desk is not None and not desk.orders_against.sentence

    async def action_panel(self, name: str) -> None:
        """Go to another panel, which has a filter of its own: the box closes, its filter stays."""
        if self.has_filter_box:
            await self.close_filter()
        self.go_to(name)

    async def action_next_panel(self, by: int) -> None:
        names = tuple(PANELS)
        await self.action_panel(names[(names.index(self.focused_panel) + by) % len(names)])

    # View

    def action_history(self) -> None:
        self._open_history(self.panel.dates)

    def _open_history(self, dates: DateFilter | None) -> None:
        self.app.push_screen(HISTORY_SCREEN(self.focused_panel, dates, "", self.product))

    def action_dates(self) -> None:
        self.ask_for_dates(self.panel.dates, partial(self._show_dates, self.panel))

    def _show_dates(self, panel: Panel[FeedRow], dates: DateFilter | None) -> None:
        """Show the dates in the panel, or in its history if they begin before the panel's oldest row."""
        if dates is not None and not panel.reaches(dates) and self.reason(Action.HISTORY) is None:
            self._open_history(dates)
            return
        panel.narrow(panel.product, dates, self.cell_format)
        self.refresh_states()

    def action_view(self) -> None:
        """Toggle the focused panel's view: every fill, or the stops that still wait."""
        if self.desk is not None:
            self.panel.in_other_view = not self.panel.in_other_view
            self._area.paint(self.desk, [self.focused_panel])
            self.refresh_states()

    def action_product(self) -> None:
        if self.desk is not None:
            types = [None, *map(str, self.desk.settings.product_types)]
            self.show_product(types[(types.index(self.product) + 1) % len(types)])
            notify(self.app, f"Showing {self.product or 'all product types'}.", seconds=2)

    def show_product(self, product: str | None) -> None:
        self.product = product
        for panel in self.panels.values():
            panel.narrow(product, panel.dates, self.cell_format)
        self.refresh_states()

    def action_poll_now(self) -> None:
        if self.desk is not None:
            self.desk.scheduler.poll_now(self.focused_panel)
            notify(self.app, f"Reading {self.panel.kind.title.lower()} …", seconds=1.5)

    def action_pause(self) -> None:
        if self.paused:
            self.resume()
            return
        self.paused = True
        self._banner.say(_PAUSED.format(pause=self.key_named(Action.PAUSE)))
        self._show_hints()

    def resume(self) -> None:
        if self.paused:
            self.paused = False
            self._banner.say("")
            self.published(None)
            self._show_hints()

    async def action_profile(self) -> None:
        await ASK_FOR_PROFILE(self.app)

    # Trading

    def before_key(self, event: TypedInput) -> bool:
        in_burst = self.trade_app.key_order.in_burst
        if not in_burst and self._vanished.position is not None:
            withdraw(self.app, self._vanished.sentence)
        self._vanished.note_key(in_burst=in_burst)
        return True

    def action_reverse(self) -> None:
        if self.desk is None or self.desk.execution is None:
            return
        on_positions = self.focused_panel == POSITIONS.name
        if on_positions and (gone := self._vanished.position) is not None:
            sentence = self._vanished.sentence
            notify_about(self.app, gone.symbol, sentence, was_sent=False, severity="warning", seconds=10)
            return
        record = self.positions_panel.table.cursor.record if on_positions else None
        if record is None:
            self._ask_what_to_reverse(self.desk, self.desk.execution)
        else:
            self._show_reversal(self.desk, self.desk.execution, self.desk.execution.target_of(record))

    @work
    async def _ask_what_to_reverse(self, desk: Desk, execution: Execution) -> None:
        if (target := await self.app.push_screen_wait(SYMBOL_DIALOG(desk))) is not None:
            self._show_reversal(desk, execution, target)

    def _show_reversal(self, desk: Desk, execution: Execution, target: Target) -> None:
        self.app.push_screen(REVERSAL_DIALOG(execution, target, desk.scheduler.poll_now))

    def action_position_alert(self) -> None:
        record = self.table.cursor.record
        symbol = getattr(record, "symbol", None) or getattr(getattr(record, "record", None), "symbol", None)
        if self.desk is not None:
            self.app.push_screen(NEW_ALERT_DIALOG(self.desk, symbol or ""))

    def action_leave(self) -> None:
        self.trade_app.action_leave()

    def action_lock(self) -> None:
        self.trade_app.lock_or_unlock()
