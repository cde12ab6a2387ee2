"""The command palette: every action of the screen by name, and commands without a key: mouse, configuration and themes.

Stricter limits of a configuration that is read again apply at once; looser ones wait for a restart.

Also the lists of this account's screens and of the profiles, each of which is an account. A profile is shown with host,
UID and mode, so that nobody opens live trading by mistake for a demo.

Also the help dialog: every key and its action, every figure of the header bar, and notes; typing filters the lines.
`help_lines` collects the lines for the open screen, and `HelpDialog` shows the matching ones.
"""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, cast

from rich.cells import cell_len
from textual import getters, on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.desk import Desk
from tradetui.desk.settings import Access
from tradetui.desk.tables.table import LOOKUPS, PANELS
from tradetui.ui.app_protocols import HISTORY_SCREEN, MANUAL_DIALOG, OPEN_CREATION, KeyedScreen, TradingApp
from tradetui.ui.dialogs.deliberate_dialog import ChoiceDialog, DimmingScreen
from tradetui.ui.header.header_content import Alarm
from tradetui.ui.intents.creation.titles import choices
from tradetui.ui.key_bindings.actions import EVERYWHERE, OF_ACCOUNTS, SCREEN_NAMES, Action, Move, shown_keys
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.safe_text import notify
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.settings.ui_settings import KEY_READS_ONLY, NO_UID, ProfileChoice, ProfileSummary
from tradetui.ui.table.desk_screen import DeskScreen
from tradetui.wire.text import scrub

if TYPE_CHECKING:
    from tradetui.ui.settings.ui_settings import ConfigurationReload

NO_FILE: Final = "There is no configuration to read: this session was started without one."
UNCHANGED: Final = "The configuration was read again. Nothing in it has changed for this session."
READ_S: Final = 30.0  # seconds for which the result is shown: it may be long
_NOT_LISTED: Final = frozenset({Action.PALETTE, Action.BACK, *Move})


class PaletteEntry(NamedTuple):
    name: str
    about: str
    run: Callable[[], object]


class Actions(Provider):
    """Offers every action of the open screen, with any key, and the commands without a key."""

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
        for action, keys, reason in offered_actions(app.settings.keys, screen):
            if action not in _NOT_LISTED and screen.where in action.where:
                about = f"{action.tooltip} ({keys})" if reason is None else f"not now: {reason}"
                yield PaletteEntry(action.description, about, partial(screen.run_action, action.textual_action))
        if app.settings.mouse:
            about = "leave the mouse to the terminal, whose own selection works then"
            yield PaletteEntry("Mouse off", about, partial(app.use_mouse, on=False))
        else:
            yield PaletteEntry("Mouse on", "click and scroll here again", partial(app.use_mouse, on=True))
        about = "read the file again; stricter limits count at once, looser ones after a restart"
        yield PaletteEntry("Reload configuration", about, partial(reload_configuration, self.app))
        yield PaletteEntry("Manual", "a page for each subject", self._open_manual)
        creation = app.desk.creation if app.desk is not None and screen.where not in OF_ACCOUNTS else None
        if creation is not None:
            for name in choices(creation):
                run = partial(OPEN_CREATION, self.app, creation, name)
                yield PaletteEntry(name, "a new key is saved before it is shown", run)
        for theme in THEMES:
            name = f"Theme {theme.name.removeprefix('tradetui-')}"
            yield PaletteEntry(name, "colours of the screen", partial(app.choose_theme, theme.name))

    def _open_manual(self) -> None:
        self.app.push_screen(MANUAL_DIALOG())


def actions() -> type[Provider]:
    return Actions


def offered_actions(changed_keys: Mapping[str, str], screen: KeyedScreen) -> Iterator[tuple[Action, str, str | None]]:
    """Yield every action with its keys and why it can do nothing now; without creation if the account never creates."""
    for action in Action:
        reason = screen.reason(action)
        if action is not Action.CREATE or reason is None:
            yield action, shown_keys(changed_keys.get(action, action.keys)), reason


def reload_configuration(app: App[Any]) -> None:
    """Read the configuration of the open profile again, apply what may change, and show the result."""
    app.run_worker(_reload(app), group="configuration", exclusive=True, exit_on_error=False)


async def _reload(app: App[Any]) -> None:
    trading_app = cast(TradingApp, app)
    profiles, overview = trading_app.settings.overview, trading_app.overview
    if profiles is not None and overview is not None:
        try:
            overview.use_sources(await asyncio.to_thread(profiles.overview_sources))
        except Exception as problem:
            notify(app, f"The overview stays as it was: {problem}", severity="error", seconds=READ_S)
    reload = trading_app.settings.profiles[trading_app.chosen].reload
    if reload is None:
        notify(app, NO_FILE, severity="warning", seconds=8)
        return
    try:
        result = await asyncio.to_thread(reload)
    except Exception as problem:
        notify(app, f"The configuration was not taken: {problem}", severity="error", seconds=READ_S)
        return
    _apply(trading_app, result)
    # One message, because a message hides the one before.
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
    if result.changed_appearance:
        preferences = trading_app.preferences
        if "theme" in result.changed_appearance:
            # The theme chosen on the screen would hide the one that was just written.
            preferences = replace(preferences, theme=None)
        trading_app.use_appearance(replace(result.appearance, preferences=preferences))
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


SUMMARY_S: Final = 0.8  # seconds to wait for a profile's configuration in the list of profiles
UNKNOWN_UID: Final = "UID known once open"
_MODES: Final = {
    Access.MONITOR: "monitor",
    Access.VIEWER: "viewer",
    Access.VIEWER_LOCKED: "viewer",
    Access.KEY_READS_ONLY: KEY_READS_ONLY,
    Access.UNIFIED: "monitor · unified",
}
_TITLES: Final = {
    Action.OVERVIEW: "Overview",
    Action.MONEY: "Money",
    Action.ALERTS: "Alerts",
    Action.JOURNAL: "Journal",
    Action.CREATE: "Create …",
}
"""Titles of actions that open a screen without a single table."""


class _ScreenEntry(NamedTuple):
    """A line of the list of screens: its name among screens, the action of its key, its title, and what opens it."""

    name: str
    action: Action
    title: str
    open: Callable[[], object]


async def ask_for_screen(screen: DeskScreen) -> None:
    """Show every screen that can be opened now, with its key, and open the chosen one."""
    app, trading_app, desk = screen.app, screen.trade_app, screen.desk

    def open_history(name: str) -> None:
        app.push_screen(HISTORY_SCREEN(name, None, "", None))

    entries = [
        _ScreenEntry(name, Action(name), table.title, partial(trading_app.open_panel, name))
        for name, table in PANELS.items()
    ]
    if desk is not None and desk.archive is not None:
        entries += [
            _ScreenEntry(f"history {name}", Action.HISTORY, table.history_title, partial(open_history, name))
            for name, table in PANELS.items()
            if table.history_title is not None
        ]
    entries += [
        _ScreenEntry(name, Action(name), table.title, partial(trading_app.open_lookup, name))
        for name, table in LOOKUPS.items()
        if screen.reason(Action(name)) is None
    ]
    if len(trading_app.settings.profiles) > 1:
        entries.append(_ScreenEntry("profile", Action.PROFILE, "Profiles", partial(ask_for_profile, app)))
    entries += [
        _ScreenEntry(action, action, title, partial(screen.run_action, action.textual_action))
        for action, title in _TITLES.items()
        if screen.reason(action) is None
    ]
    names = [entry.name for entry in entries]
    lines = [f"{screen.key_named(entry.action)} {entry.title}" for entry in entries]
    shown_now = names.index(screen.screen_name) if screen.screen_name in names else 0
    dialog = ChoiceDialog("Screens", lines, shown_now)
    if (chosen := await app.push_screen_wait(dialog)) is not None:
        # The application opens it in its turn, so that keys typed meanwhile wait for that.
        app.call_later(entries[chosen].open)


async def ask_for_profile(app: App[Any]) -> None:
    """Show the profiles with their present configuration, and open the chosen one."""
    trading_app = cast(TradingApp, app)
    profiles = trading_app.settings.profiles
    summaries = await asyncio.gather(*(_summary(profile, trading_app.desk) for profile in profiles))

    def open_chosen(index: int | None) -> None:
        if index is not None and (index != trading_app.chosen or trading_app.desk is None):
            trading_app.open_profile(index)

    names = [profile.name for profile in profiles]
    lines = profile_lines(names, summaries, None if trading_app.desk is None else trading_app.chosen)
    app.push_screen(ChoiceDialog("Profiles", lines, trading_app.chosen), open_chosen)


async def _summary(profile: ProfileChoice, desk: Desk | None) -> ProfileSummary:
    """Return a profile's line; the open profile's desk may know more than its configuration."""
    try:
        async with asyncio.timeout(SUMMARY_S):
            summary = await asyncio.to_thread(profile.summary)
    except TimeoutError:
        return ProfileSummary(trouble="its configuration could not be read in time")
    if desk is None or desk.settings.name != profile.name:
        return summary
    uid = desk.uid or summary.uid or (NO_UID if desk.account is not None else None)
    return summary._replace(uid=uid, mode=_MODES.get(desk.access, "trade"), trouble="")


def profile_lines(names: Sequence[str], summaries: Sequence[ProfileSummary], open_index: int | None) -> list[str]:
    """One line per profile, their figures aligned; `open_index` is None if none is open."""
    sound, rows = [], []
    for index, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        state = "open" if index == open_index else ""
        figures = (
            (summary.trouble, "", "") if summary.trouble else (summary.host, summary.uid or UNKNOWN_UID, summary.mode)
        )
        row = [scrub(text) for text in (name, *figures, state)]
        rows.append(row)
        if not summary.trouble:
            sound.append(row)
    # An error sentence may be long; the figures of the other profiles stay aligned nevertheless.
    name_width = max((cell_len(row[0]) for row in rows), default=0)
    widths = [name_width, *(max((cell_len(row[column]) for row in sound), default=0) for column in range(1, 5))]
    return [
        "  ".join(text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


_BESIDE_LINES: Final = 10  # cells of the dialog and its frame besides the lines
_NARROWEST: Final = 12  # the fewest cells of a key's description


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One line: `keys` is empty for a figure or a note, `off` is why the keys do nothing now, empty if they do."""

    group: str
    keys: str
    name: str
    about: str
    off: str = ""

    def matches(self, text: str) -> bool:
        """Whether every word of a text is in the line in any case; a `/` before a word only begins a search."""
        line = f"{self.group} {self.keys} {self.name} {self.about} {self.off}".casefold()
        return all((word.removeprefix("/") or word) in line for word in text.casefold().split())

    def content(self, width: int) -> Content:
        """The line in `width` cells; the description is wrapped under itself."""
        keys = Content.styled(f"  {self.keys:<11} ", "bold $primary") if self.keys else Content("  ")
        name_width = _KEY_NAME_WIDTH if self.keys else _LABEL_WIDTH
        head = Content.assemble(keys, f"{self.name:<{name_width}}")
        about, style = (f"now off: {self.off}", "$warn") if self.off else (self.about, "$quiet")
        indent = head.cell_length
        wrapped = textwrap.wrap(about, max(_NARROWEST, width - indent))
        return Content.assemble(head, (f"\n{' ' * indent}".join(wrapped), style))


def help_lines(changed_keys: Mapping[str, str], screen: KeyedScreen) -> list[HelpLine]:
    """The help for a screen; `changed_keys` are the profile's own keys, by the action's id."""
    # The overview is of no account: the keys of panels, records and trading come with the account that is opened.
    here = {screen.where, *EVERYWHERE} if screen.where in OF_ACCOUNTS else {*SCREEN_NAMES, *EVERYWHERE}
    lines = [
        HelpLine(action.group, keys, action.description, action.tooltip, reason or "")
        for action, keys, reason in offered_actions(changed_keys, screen)
        if here & set(action.where)
    ]
    lines += [HelpLine("Header", "", label, about) for label, about in HEADER_FIGURES]
    lines += [HelpLine("Notes", "", label, about) for label, about in NOTES]
    return lines


class HelpDialog(DimmingScreen[None]):
    """Shows lines of help under the titles of their groups, below a box in which one types to search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "back", "Clear, then close"),
        ("f1", "dismiss", "Close"),
        ("tab", "manual", "Manual"),
        ("down", "scroll(1)", "Down"),
        ("up", "scroll(-1)", "Up"),
        ("pagedown", "page(1)", "Page down"),
        ("pageup", "page(-1)", "Page up"),
    ]
    AUTO_FOCUS = "Input"
    _box = getters.query_one(Input)
    _text = getters.query_one("#help", Static)
    _scroll = getters.query_one(VerticalScroll)

    def __init__(self, changed_keys: Mapping[str, str], screen: KeyedScreen) -> None:
        """`screen` is the one whose keys are shown, `changed_keys` are the profile's own, by the action's id."""
        super().__init__(classes="dialog -tall")
        self._lines = help_lines(changed_keys, screen)

    def compose(self) -> ComposeResult:
        with self.framed("Help", "Tab opens the manual · Esc clears, then closes"):
            yield LineBox(placeholder="type to search: a key, a name, a figure of the header")
            with VerticalScroll(can_focus=False):
                yield Static(id="help", markup=False)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._text.update(self._matching(event.value))
        self._scroll.scroll_home(animate=False)

    def action_back(self) -> None:
        if self._box.value:
            self._box.value = ""
        else:
            self.dismiss()

    def action_manual(self) -> None:
        self.app.push_screen(MANUAL_DIALOG())

    def action_page(self, pages: int) -> None:
        self.action_scroll(pages * self._scroll.size.height)

    def _matching(self, text: str) -> Content:
        shown = [line for line in self._lines if line.matches(text)]
        if not shown:
            return Content.styled("No key and no figure matches. Esc clears the search.", "$quiet")
        contents: list[Content] = []
        for group in dict.fromkeys(line.group for line in shown):
            contents.append(Content.styled(group, "bold $primary"))
            contents += [line.content(self._width) for line in shown if line.group == group]
            contents.append(Content(""))
        return Content("\n").join(contents[:-1])

    @property
    def _width(self) -> int:
        """Cells of a line; before the first layout, of the future dialog."""
        return self._text.content_size.width or self.app.size.width - _BESIDE_LINES

    def on_resize(self) -> None:
        self._text.update(self._matching(self._box.value))


HEADER_FIGURES: Final = (
    ("LIVE DEMO SANDBOX", "whose money it is: real, the exchange's demo trading, or the embedded exchange"),
    ("TRADE LOCKED MONITOR", "what this session may do: send, send after unlocking, only read"),
    ("KEY READS ONLY", "the API key has no permission to trade futures: the exchange would refuse what is sent"),
    ("VIEWER", "the store that several machines share lets you only view the account; its owner can change that"),
    ("NO STORE", "the store that several machines share is away or refuses this session: nothing new can be sent"),
    ("UNIFIED", "a unified account, which is only read: the exchange has no reversal for it"),
    ("hedge · 4100…", "the profile and the account's UID"),
    ("● 38 ms", "the link works; time from a request to its reply"),
    ("▲ degraded", "some panels could not be read in time"),
    ("✗ refused", "the exchange refuses this account's calls; the reason stands above the panels"),
    ("✗ link down", "the exchange cannot be reached; the figures are as old as they say"),
    ("clock", "how far this machine's clock is ahead of the exchange's; above 5 s nothing is sent"),
    (
        "rate limit",
        "calls of the last minute, as a share of those it allows; halved or slowed: rows are read less often",
    ),
    ("equity", "wallet balance and unrealised profit of all futures accounts, in USDT"),
    ("today", "equity since the day began in the profile's zone, or since the day's first sample, without transfers"),
    ("open", "unrealised profit of all open positions, in USDT; ~ marks coin-margined ones converted at the mark"),
    ("free", "free margin of the futures account that has least of it, in per cent of its equity"),
    ("margin ratio", "maintenance margin ÷ equity of the account nearest to liquidation; at 100 % it is liquidated"),
    ("exposure", "value of all positions, long and short together, as a multiple of equity"),
    ("union margin", "what the assets of a multi-asset account are worth as margin, at the exchange's rates"),
    ("available", "how much of the union margin is free"),
    ("equity+union", "the equity of accounts of one coin, and what a multi-asset account is worth as margin"),
    (Alarm.OTHER_OWNER, "the API key is not of the account that the profile names: nothing is sent"),
    (Alarm.JOURNAL_LOST, "what was sent is not known any more: nothing is sent before you accept that"),
    ("JOURNAL CANNOT BE …", "the journal of what is sent fails: nothing is sent before it takes entries again"),
    (Alarm.STORE_AWAY, "the store that several machines share cannot be reached: nothing new is sent until it can"),
    (Alarm.OLDER_STORE, "the store is an older copy than this machine has seen: nothing is sent before you accept it"),
    (Alarm.LOCKED_HERE_ONLY, "the lock could not be written: other sessions of the account may still send"),
    (Alarm.OTHER_JOURNAL, "a session with another data directory has an order of this symbol under way"),
    (Alarm.UNKNOWN_OUTCOME, "an order may or may not have been carried out; the journal shows it"),
    (Alarm.NOT_SETTLED, "an order is under way, or its outcome is still looked for; the journal shows it"),
    (Alarm.NOT_KEPT, "rows of this session cannot be written to the disk"),
    ("— ~ ?", "unknown; worked out or converted by this program; touched by rows that could not be read"),
)
"""A figure as the bar writes it, and its meaning."""
NOTES: Final = (
    ("copying", "Copying uses OSC 52; inside tmux it needs `set -g set-clipboard on`."),
    ("filters", "Filters are regular expressions without case; a leading ! shows what does not match."),
    ("own keys", "Every key can be changed in the profile's [keys] table by the id that `tradetui keys` prints."),
    ("selection", "Mouse off in the palette, or mouse = false in the profile, lets the terminal select text."),
)
_KEY_NAME_WIDTH: Final = 16
_LABEL_WIDTH: Final = max(len(label) for label, _ in HEADER_FIGURES) + 1
