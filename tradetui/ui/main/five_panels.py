"""Five panels over a live desk: how they are laid out for a terminal's size, and when they are painted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Static

from tradetui.desk.feeds.feed import Pace
from tradetui.desk.tables.table import LOOKUPS, PANELS, POSITIONS, TRIGGERS
from tradetui.ui.alerts import Bell
from tradetui.ui.header.bar import HeaderBar, has_two_lines
from tradetui.ui.header.session import show_session
from tradetui.ui.keys.footer import Hint, Hints
from tradetui.ui.keys.registry import BINDINGS, REASONS, KeyBinding
from tradetui.ui.main.layout import arrangement
from tradetui.ui.main.panel_area import PanelArea
from tradetui.ui.main.panels import Panel
from tradetui.ui.main.tabs import PanelTabs, Tab
from tradetui.ui.sanitize import notify, sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_actions import show_choice
from tradetui.ui.table.table_screen import FILTER_HINTS, TableScreen
from tradetui.ui.time_zones import zone_label

if TYPE_CHECKING:
    from tradetui.desk.alerts import Alert
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.feed import Feed
    from tradetui.desk.feeds.health import Health
    from tradetui.desk.feeds.snapshot import Snapshot
    from tradetui.desk.tables.row_source import FeedRow
    from tradetui.ui.settings import UiSettings

TICK_S = 1.0
PROBED: Final = "The exchange is asked again once a minute."
HINT_ORDER = ("help", "reverse", "detail", "filter", "sort", "zoom", "product", "pause", "screens", "lock")


class FivePanels(TableScreen):
    """Renders what the desk publishes; what the keys do to rows and to trading stands in the classes made of it."""

    AUTO_FOCUS = ""
    BLANK = True

    def __init__(self, settings: UiSettings) -> None:
        super().__init__(settings)
        self.positions_panel = Panel(POSITIONS)
        self.panels: Mapping[str, Panel[FeedRow]] = {name: Panel(table) for name, table in PANELS.items()} | {
            POSITIONS.name: self.positions_panel
        }
        self.focused_panel: str = POSITIONS.name
        self.paused = False
        self.product: str | None = None
        self.live_stops = False
        self._shown: tuple[str, ...] = ()
        self._zoomed = False
        self._fresh: set[str] = set()
        self._painting = False
        self._not_kept: str | None = None
        self._refusal = ""
        self._painted_at = 0.0
        self._bell = Bell()

    def compose(self) -> ComposeResult:
        """Header, tabs, the panels, the filter's box, hints."""
        profile = self._settings.profiles[self._settings.chosen]
        yield HeaderBar(self._settings.environment, self._settings.access, profile.name)
        yield PanelTabs()
        yield Static(id="banner", markup=False)
        yield Static(id="refused", markup=False)
        yield PanelArea(self.panels.values())
        yield Hints()

    def on_mount(self) -> None:
        """Arrange for the terminal's size."""
        self.show_zone()
        self.set_interval(TICK_S, self._tick)
        self._show_preferences()
        self._arrange()
        self.table.focus()

    def _show_preferences(self) -> None:
        """Columns and order as they were chosen before."""
        chosen = self.trade_app.preferences.tables
        for name in self.panels.keys() & chosen.keys():
            # Every field of the interface means the models: only where one of them was chosen.
            show_choice(self.panels[name].table, self.panels[name].kind, chosen[name])

    def on_resize(self, event: events.Resize) -> None:
        """Arrange anew, live."""
        self._arrange()

    @property
    def panel(self) -> Panel[FeedRow]:
        """The panel that has the focus, or had it before a dialog or the filter's box took it."""
        return self.panels[self.focused_panel]

    @property
    def table(self) -> RecordTable[object]:
        """Its table."""
        return self.panel.table

    @property
    def subject(self) -> str:
        """The panel's title."""
        return self.panel.kind.title

    @property
    def feed_name(self) -> str:
        """The panel's feed."""
        return self.focused_panel

    @property
    def screen_name(self) -> str:
        """The panel."""
        return self.focused_panel

    def show_zone(self) -> None:
        """Show the times of every panel in the zone."""
        for panel in self.panels.values():
            panel.table.set_zone(self.zone)

    # What the desk publishes

    def opening(self, name: str) -> None:
        """Another desk is being opened; nothing of the one before stays on the screen."""
        for panel in self.panels.values():
            panel.reset()
        self._bell = Bell()
        self.product = None
        self._say_refusal("")
        # Until the new desk tells, nothing about it is proven.
        self.query_one(HeaderBar).begin("LIVE", "MONITOR", name)

    def opened(self, desk: Desk) -> None:
        """The desk is open and about to read."""
        self.set_paces()
        self._show_header(desk)
        self.refresh_states()

    def cannot_open(self, why: str) -> None:
        """The desk could not be opened: say why in every panel."""
        for panel in self.panels.values():
            panel.say_failure(why)
        notify(self.app, why, severity="error", seconds=30)

    def published(self, feed: Feed[FeedRow] | None) -> None:
        """Note what is new and paint it with whatever else comes at the same moment; None is a mere tick."""
        desk = self.desk
        if desk is None:
            return
        if feed is not None:
            self._fresh.add(feed.name)
        if not self._painting:
            self._painting = True
            self.call_later(self._paint)

    def _tick(self) -> None:
        """Let ages go on where nothing has been published for a while: every call may be hanging."""
        desk = self.desk
        if desk is not None and desk.clock.monotonic() - self._painted_at >= TICK_S:
            self.published(None)

    def _paint(self) -> None:
        self._painting = False
        desk = self.desk
        if desk is None:
            return
        now = self._painted_at = desk.clock.monotonic()
        if not self.paused:
            for name in sorted(self._fresh):
                if self.panels[name].display:
                    self._fresh.discard(name)
                    self.panels[name].show(desk.feeds[name], now, self.rows_of(name))
            self.refresh_states()
        self._show_header(desk)

    def rows_of(self, name: str) -> Snapshot[FeedRow]:
        """What a panel shows: its feed's rows, or the triggers that still wait."""
        assert self.desk is not None
        if name == TRIGGERS.name and self.live_stops and (live := self.desk.live_stops) is not None:
            return live
        return self.desk.feeds[name].snapshot

    def repaint(self, name: str) -> None:
        """Show a panel's rows anew."""
        if self.desk is not None:
            self.panels[name].show(self.desk.feeds[name], self.desk.clock.monotonic(), self.rows_of(name))

    def refresh_states(self) -> None:
        """Bring titles, ages, tabs and hints up to date."""
        desk = self.desk
        if desk is not None:
            now = desk.clock.monotonic()
            for name, panel in self.panels.items():
                if panel.display:
                    panel.show_state(desk.feeds[name], now, self.rows_of(name))
        self._show_tabs()
        self._show_hints()

    def _show_header(self, desk: Desk) -> None:
        show_session(self.query_one(HeaderBar), desk)
        self._show_refusal(desk.health)
        if desk.archive_trouble != self._not_kept:
            self._not_kept = desk.archive_trouble
            if self._not_kept:
                sentence = f"What is read is not kept beyond this session: {self._not_kept}"
                notify(self.app, sentence, severity="warning", seconds=60)

    def _show_refusal(self, health: Health) -> None:
        """Say once, whole and above the panels, that the exchange refuses the account."""
        self._say_refusal(f"{health.sentence}. {health.remedy} {PROBED}" if health.of_account else "")

    def _say_refusal(self, sentences: str) -> None:
        if sentences != self._refusal:
            self._refusal = sentences
            notice = self.query_one("#refused", Static)
            notice.update(sanitized(sentences))
            notice.display = bool(sentences)

    def alerted(self, alert: Alert) -> None:
        """Ring; what concerns every panel is also said: the link, and a reversal that nobody waits for any more."""
        desk, kind = self.desk, str(alert.kind)
        if desk is None:
            return
        of_a_panel = kind in ("fill", "trigger")
        if (
            self._settings.bell
            and kind != "link back"
            and self._bell.rings(desk.clock.monotonic(), at_once=not of_a_panel)
        ):
            self.app.bell()
        if of_a_panel:
            return
        if kind.startswith("link"):
            notify(self.app, alert.sentence, severity="warning" if kind == "link lost" else "information")
        else:
            notify(self.app, alert.sentence, severity="error", seconds=600)

    def _show_tabs(self) -> None:
        tabs = self.query_one(PanelTabs)
        if tabs.display:
            tabs.show(list(self._tabs()))

    def _tabs(self) -> Iterator[Tab]:
        for name, table in PANELS.items():
            feed = self.desk.feeds[name] if self.desk is not None else None
            known = feed is not None and feed.snapshot.read_at is not None
            yield Tab(
                name,
                table.key,
                self.panels[name].title,
                str(self.rows_of(name).count) if feed is not None and known else "",
                name in self._shown,
                name == self.focused_panel,
                feed is not None and (feed.snapshot.error is not None or str(feed.freshness) in ("stale", "dead")),
            )

    def _show_hints(self) -> None:
        note = " · ".join(
            filter(None, (self.product, f"times in {zone_label(self.zone)}" if self.size.width >= 100 else ""))
        )
        if self.query("#filter"):
            self.query_one(Hints).show(FILTER_HINTS, note)
            return
        hints = [
            Hint(
                self.keys_of(binding), binding.description, binding.action, self.blocking_reason(binding.id) is not None
            )
            for binding in sorted(BINDINGS, key=self._hint_order)
            if binding.hint
            and self.where in binding.where
            and (binding.id != "reverse" or self.focused_panel == POSITIONS.name)
            and (binding.group != "Trading" or self._settings.access != "MONITOR")
        ]
        self.query_one(Hints).show(hints, note)

    @staticmethod
    def _hint_order(binding: KeyBinding) -> int:
        # What does not fit is left out from the end, so what is used most stands first.
        return HINT_ORDER.index(binding.id) if binding.id in HINT_ORDER else len(HINT_ORDER)

    def blocking_reason(self, binding: str) -> str | None:
        """Why a binding can do nothing now, None where it can."""
        desk = self.desk
        if binding in LOOKUPS:
            return self.lookup_reason(binding)
        if binding == "history" and desk is not None and desk.archive is None and desk.archive_trouble:
            return f"nothing is kept: {desk.archive_trouble}"
        able = {
            "detail": self.table.cursor_key is not None,
            "copy_cell": self.table.cursor_key is not None,
            "copy_row": self.table.cursor_key is not None,
            "sort_reverse": self.table.sort is not None,
            "export": self.table.shown > 0,
            "journal": self.has_journal(),
            "create": self.can_create(),
            "history": self.panel.kind.history_title is not None and desk is not None and desk.archive is not None,
            "live_stops": desk is not None and desk.live_stops is not None,
            "product": desk is None or len(desk.settings.product_types) > 1,
            "profile": len(self._settings.profiles) > 1,
            "poll_now": desk is not None,
            "reverse": desk is not None and desk.execution is not None,
            "lock": desk is not None and desk.execution is not None,
            "lock_at_once": desk is not None and desk.execution is not None,
        }
        return None if able.get(binding, True) else REASONS[binding]

    # Layout

    def _arrange(self) -> None:
        width, height = self.app.size
        placed = arrangement(width, height, self.focused_panel, self._shown, zoomed=self._zoomed)
        self.set_class(has_two_lines(width, height), "-narrow")
        revealed = [name for name in placed.shown if not self.panels[name].display or name not in self._shown]
        for name, panel in self.panels.items():
            panel.display = name in placed.shown
        self._shown = placed.shown
        self.query_one(PanelTabs).display = placed.shape != "five" and height >= 8
        self.set_paces()
        self._reveal(revealed)
        self.call_later(self._paint)

    def _reveal(self, names: list[str]) -> None:
        """Paint panels that come onto the screen, even while the others stand still: theirs would be older rows."""
        desk = self.desk
        if desk is not None:
            for name in names:
                self._fresh.discard(name)
                self.panels[name].show(desk.feeds[name], desk.clock.monotonic(), self.rows_of(name))

    def set_paces(self) -> None:
        """Poll what is looked at at its own pace, what is hidden, by another screen too, more slowly."""
        if self.desk is None:
            return
        away = self.trade_app.looks_up
        for name, panel in self.panels.items():
            self.desk.set_pace(name, Pace.SHOWN if panel.display and not away else Pace.HIDDEN)

    def go_to(self, name: str) -> None:
        """Focus a panel, bringing it onto the screen where it is not."""
        self.focused_panel = name
        self._fresh.add(name)
        self._arrange()
        self.table.focus()

    @on(PanelTabs.Chosen)
    def _tab_chosen(self, event: PanelTabs.Chosen) -> None:
        self.go_to(event.name)

    def on_descendant_focus(self) -> None:
        """Follow the focus, which the mouse moves too."""
        for name, panel in self.panels.items():
            if panel.table.has_focus and name != self.focused_panel:
                self.focused_panel = name
        self._show_tabs()
        self._show_hints()

    def action_zoom(self) -> None:
        """One panel over the whole screen, and back."""
        self._zoomed = not self._zoomed
        self._arrange()
