"""The application: one main screen of five panels over a desk that is opened after the first paint."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.columns import COLUMNS
from tradetui.ui.dialogs.choice import ChoiceDialog
from tradetui.ui.dialogs.confirm import ConfirmDialog
from tradetui.ui.dialogs.detail import DetailDialog
from tradetui.ui.dialogs.help import HelpDialog
from tradetui.ui.header import HeaderBar
from tradetui.ui.keys import BINDINGS as KEYS
from tradetui.ui.keys import shown_keys
from tradetui.ui.layout import PANELS, ROWS, arrangement
from tradetui.ui.panels import TITLES, Panel
from tradetui.ui.record_table import RecordTable
from tradetui.ui.safe import plain, tell
from tradetui.ui.settings import UiSettings
from tradetui.ui.themes import DEFAULT_THEME, THEMES

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feed import Feed

CRASHED = 1


class TradeApp(App[None]):
    """The screen. It renders what the desk hands it and does no network or disk work itself."""

    CSS_PATH = "tradetui.tcss"
    TITLE = "tradetui"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            each.keys, each.action, each.description, id=each.id, tooltip=each.tooltip, show=each.hint, priority=False
        )
        for each in KEYS
    ]

    def __init__(self, settings: UiSettings) -> None:
        super().__init__()
        self.settings = settings
        self.desk: Desk | None = None
        self.failure: str | None = None
        self._panels = {name: Panel(name, COLUMNS[name], number) for number, name in enumerate(PANELS, start=1)}
        self._focused = "positions"
        self._zoomed = False
        self._paused = False
        self._product: str | None = None
        self._zone = zone_of(settings.timezone)
        self._chosen = settings.chosen
        self._newest: dict[str, str | None] = {}
        self._link_down = False
        self._end_subscription: Callable[[], None] | None = None
        for theme in THEMES:
            self.register_theme(theme)
        names = {theme.name for theme in THEMES}
        self.theme = settings.theme if settings.theme in names else DEFAULT_THEME
        if settings.keys:
            self.set_keymap(dict(settings.keys))

    def compose(self) -> ComposeResult:
        profile = self.settings.profiles[self._chosen]
        yield HeaderBar(self.settings.environment, self.settings.access, profile.name)
        yield Static("painting is paused; Space or R resumes", id="banner", markup=False)
        with Vertical(id="panels"):
            for number, names in enumerate(ROWS):
                with Horizontal(classes="row", id=f"row-{number}"):
                    for name in names:
                        yield self._panels[name]
        yield Input(id="filter", placeholder="regular expression; ! turns it round; Enter keeps it, Esc clears it")
        yield Static(self._hints(), id="hints", markup=False)

    def on_mount(self) -> None:
        self._arrange()
        self._panels[self._focused].table.focus()
        for panel in self._panels.values():
            panel.table.set_zone(self._zone)
        self.call_after_refresh(self._begin)

    def on_resize(self) -> None:
        self._arrange()

    # The desk

    def _begin(self) -> None:
        self.run_worker(self._open(self._chosen), name="open desk", exclusive=True, exit_on_error=False)

    async def _open(self, chosen: int) -> None:
        profile = self.settings.profiles[chosen]
        try:
            # Everything heavy is imported by what builds the desk, in a thread, after the shell is on the screen.
            opened = profile.open_desk() if self.settings.inline_start else await asyncio.to_thread(profile.open_desk)
        except Exception as problem:
            self._cannot_open(problem)
            return
        await self._close_desk()
        self._chosen = chosen
        self.desk = opened
        self._newest = {}
        self._end_subscription = opened.subscribe(self._changed)
        await opened.client.prepare()
        opened.start()
        self._show_header()

    def _cannot_open(self, problem: Exception) -> None:
        self.failure = str(problem)
        tell(self, str(problem), severity="error", seconds=30)

    async def _close_desk(self) -> None:
        if self._end_subscription is not None:
            self._end_subscription()
            self._end_subscription = None
        if self.desk is not None:
            desk, self.desk = self.desk, None
            await desk.stop()

    async def on_unmount(self) -> None:
        await self._close_desk()

    def _changed(self, feed: Feed) -> None:
        desk = self.desk
        if desk is None:
            return
        self._alert(feed)
        if self._paused:
            return
        now = desk.clock.monotonic()
        self._panels[feed.name].show(feed, now)
        for name, panel in self._panels.items():
            if name != feed.name and panel.display:
                panel.show_state(desk.feeds[name], now)
        self._show_header()

    def _show_header(self) -> None:
        if self.desk is not None and self.is_running:
            self.query_one(HeaderBar).show(self.desk, self.desk.clock.monotonic())

    def _alert(self, feed: Feed) -> None:
        """Ring for a new fill, a trigger, or a link that is lost."""
        if self.desk is None or not self.settings.bell:
            return
        if feed.name in ("fills", "triggers"):
            newest = feed.snapshot.keys[0] if feed.snapshot.count else None
            known = self._newest.get(feed.name, newest)
            self._newest[feed.name] = newest
            if known != newest:
                self.bell()
        if self.desk.link.down and not self._link_down:
            self.bell()
        self._link_down = self.desk.link.down

    # Layout

    def _arrange(self) -> None:
        placed = arrangement(self.size.width, self.size.height, self._focused, zoomed=self._zoomed)
        for number, names in enumerate(placed.rows()):
            row = self.query_one(f"#row-{number}", Horizontal)
            row.display = bool(names)
            row.set_class(placed.stacked, "stacked")
            row.styles.height = f"{max(1, len(names)) if placed.stacked else (3, 3, 2)[number]}fr"
        for name, panel in self._panels.items():
            panel.display = name in placed.shown
        self._set_paces()

    def _set_paces(self) -> None:
        if self.desk is None:
            return
        from tradetui.desk.feed import Pace

        for name, panel in self._panels.items():
            self.desk.set_pace(name, Pace.SHOWN if panel.display else Pace.HIDDEN)

    @property
    def _table(self) -> RecordTable:
        return self._panels[self._focused].table

    def action_panel(self, name: str) -> None:
        """Focus a panel, bringing it onto the screen where it is not."""
        self._focused = name
        self._arrange()
        self._table.focus()
        if self.desk is not None:
            self._panels[name].show(self.desk.feeds[name], self.desk.clock.monotonic())

    def action_next_panel(self, by: int) -> None:
        place = (PANELS.index(self._focused) + by) % len(PANELS)
        self.action_panel(PANELS[place])

    def on_descendant_focus(self) -> None:
        for name, panel in self._panels.items():
            if panel.table.has_focus:
                self._focused = name

    def action_zoom(self) -> None:
        self._zoomed = not self._zoomed
        self._arrange()

    # Rows

    def action_table(self, name: str) -> None:
        getattr(self._table, f"action_{name}")()

    @on(RecordTable.RowSelected)
    def _selected(self, event: RecordTable.RowSelected) -> None:
        self.push_screen(DetailDialog(f"{TITLES[self._focused]}: every field", event.record))

    def action_sort(self, reverse: bool) -> None:
        table, column = self._table, self._table.cursor_column
        same = table.sort is not None and table.sort.column == column.id and table.sort.reverse == reverse
        table.sort_by(None if same else column.id, reverse)

    def action_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.border_title = f"filter {TITLES[self._focused].lower()}"
        box.value = self._table.pattern
        box.focus()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._table.filter(event.value)
        self._refresh_states()

    @on(Input.Submitted, "#filter")
    def _filter_kept(self) -> None:
        self.query_one("#filter", Input).display = False
        self._table.focus()

    def action_back(self) -> None:
        """Close the filter's box, clear the filter, or leave zoom: the innermost of these first."""
        box = self.query_one("#filter", Input)
        if box.display:
            box.display = False
            box.value = ""
            self._table.filter("")
            self._table.focus()
        elif self._table.pattern:
            self._table.filter("")
        elif self._zoomed:
            self.action_zoom()
        self._refresh_states()

    def _refresh_states(self) -> None:
        if self.desk is not None:
            now = self.desk.clock.monotonic()
            for name, panel in self._panels.items():
                panel.show_state(self.desk.feeds[name], now)

    def action_copy(self, whole_row: bool) -> None:
        text = self._table.row_text() if whole_row else self._table.cell_text()
        if text is None:
            tell(self, "Nothing to copy: this panel has no row.", severity="warning")
            return
        self.copy_to_clipboard(text.strip())
        tell(self, f"Copied: {text.strip()[:80]}")

    # View

    def action_help(self) -> None:
        self.push_screen(HelpDialog(dict(self.settings.keys)))

    def action_product(self) -> None:
        if self.desk is None:
            return
        types = [str(each) for each in self.desk.settings.product_types]
        chosen = types.index(self._product) + 1 if self._product in types else 0

        def pick(place: int | None) -> None:
            if place is None:
                return
            self._product = types[place - 1] if place else None
            wanted = self._product
            for panel in self._panels.values():
                panel.table.keep_only(None if wanted is None else lambda row: str(row.product_type) == wanted)
            self._refresh_states()

        self.push_screen(ChoiceDialog("Product type", ["all", *types], chosen), pick)

    def action_profile(self) -> None:
        names = [profile.name for profile in self.settings.profiles]

        def pick(place: int | None) -> None:
            if place is not None and place != self._chosen:
                self.run_worker(self._open(place), name="open desk", exclusive=True, exit_on_error=False)

        self.push_screen(ChoiceDialog("Profile", names, self._chosen), pick)

    def action_poll_now(self) -> None:
        if self.desk is not None:
            self.desk.poll_now(self._focused)

    def action_pause(self) -> None:
        self._paused = not self._paused
        self.query_one("#banner").display = self._paused
        if not self._paused and self.desk is not None:
            now = self.desk.clock.monotonic()
            for name, panel in self._panels.items():
                panel.show(self.desk.feeds[name], now)
            self._show_header()

    def action_zone(self) -> None:
        local: tzinfo | None = datetime.now(UTC).astimezone().tzinfo
        self._zone = UTC if self._zone is not UTC else (local or UTC)
        for panel in self._panels.values():
            panel.table.set_zone(self._zone)
        tell(self, f"Times are in {'UTC' if self._zone is UTC else 'local time'}.")

    # Trading

    def action_reverse(self) -> None:
        """Open the reversal of the position under the cursor, or say why there is none."""
        if self._paused:
            self.action_pause()
        desk = self.desk
        if desk is None or desk.execution is None:
            tell(self, "Monitor mode: nothing can be sent from here.", severity="warning")
            return
        from tradetui.ui.dialogs.reversal import ReversalDialog, SymbolDialog

        execution = desk.execution
        record = self._table.cursor_record if self._focused == "positions" else None
        if record is not None:
            self.push_screen(ReversalDialog(execution, execution.target_of(record)))
            return

        def ask(symbol: str | None) -> None:
            if symbol:
                self.push_screen(ReversalDialog(execution, execution.target_named(symbol)))

        self.push_screen(SymbolDialog(), ask)

    def action_lock(self) -> None:
        """Lock trading at once; unlocking asks first."""
        desk = self.desk
        if desk is None or desk.execution is None:
            tell(self, "Monitor mode: trading is not possible here at all.", severity="warning")
            return
        execution = desk.execution
        if not execution.locked:
            execution.lock()
            tell(self, "Trading is locked.")
            self._show_header()
            return

        def unlock(yes: bool | None) -> None:
            if yes:
                execution.unlock()
                self._show_header()

        question = f"Unlock trading on {desk.settings.environment} {desk.settings.name}?"
        self.push_screen(ConfirmDialog("Unlock trading", question, "Unlock"), unlock)

    # Ending

    def action_leave(self) -> None:
        """Quit; asks while an intent is unsettled."""
        unsettled = self.desk.execution.unsettled() if self.desk is not None and self.desk.execution else ()
        if not unsettled:
            self.exit()
            return

        def leave(yes: bool | None) -> None:
            if yes:
                self.exit()

        question = "A reversal is not settled yet: " + ", ".join(unsettled) + "\nQuit all the same?"
        self.push_screen(ConfirmDialog("Quit", question, "Quit"), leave)

    def _fatal_error(self) -> None:
        """End on an unforeseen error without printing a single local variable: one of them may be a secret."""
        self.bell()
        kind, _, trace = sys.exc_info()
        place = ""
        while trace is not None:
            code = trace.tb_frame.f_code
            place = f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} in {code.co_name}"
            trace = trace.tb_next
        self.failure = f"internal error, {kind.__name__ if kind else 'unknown'} at {place}"
        self._return_code = CRASHED
        self._close_messages_no_wait()

    def _hints(self) -> Content:
        parts: list[Any] = []
        for each in KEYS:
            if each.hint:
                keys = shown_keys(self.settings.keys.get(each.id, each.keys.split(",")[0]))
                parts += [(f"{keys} ", "bold $accent"), (f"{each.description}  ", "$quiet")]
        return Content.assemble(*parts)


def zone_of(name: str) -> tzinfo:
    """The zone of a setting: utc, local, or a name."""
    if name == "utc":
        return UTC
    if name == "local":
        return datetime.now(UTC).astimezone().tzinfo or UTC
    return ZoneInfo(name)


__all__ = ["TradeApp", "plain"]
