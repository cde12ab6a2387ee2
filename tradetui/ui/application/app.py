"""The application: it paints first, then opens the desk of a profile, and passes the desk's news to the screens.

It does no network or disk work itself: a thread builds the desk, and the desk polls. A desk is the running session of
an account. Only one is open at a time; the next one opens after it has stopped.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tradetui.ui.app_protocols import (
    ALERT_NOTICES,
    ASK_TO_TRY_JOURNAL_AGAIN,
    CONFIRM_DIALOG,
    HELP_DIALOG,
    LOOKUP_SCREEN,
    LOST_JOURNAL_DIALOG,
    MAIN_SCREEN,
    OLDER_STORE_DIALOG,
    OVERVIEW_SCREEN,
    PALETTE,
    FollowsDesk,
    KeyedScreen,
    has_keys_of_its_own,
)
from tradetui.ui.application.textual_app import TextualApp
from tradetui.ui.key_bindings.actions import LOCKS_NOBODY, Action, key_named
from tradetui.ui.key_bindings.profile_bindings import bindings, profile_bindings
from tradetui.ui.main.start_screen import StartScreen
from tradetui.ui.safe_text import notify, withdraw
from tradetui.ui.settings.themes import first_theme
from tradetui.ui.settings.ui_settings import (
    PreferenceWriter,
    ProfileAppearance,
    ScreenPreferences,
    TableChoice,
    UiSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradetui.desk.desk import Desk
    from tradetui.desk.events.rules import Alert
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.intents.intents import Intents
    from tradetui.desk.overview.account_row import AccountRow
    from tradetui.desk.overview.overview import Overview
    from tradetui.desk.tables.rows.row_source import FeedRow
    from tradetui.ui.alerts.alert_notices import AlertNotices
    from tradetui.ui.key_bindings.key_queue import TypedInput
    from tradetui.ui.main.main_screen import MainScreen
    from tradetui.ui.records.lookup_screen import LookupScreen

LOCKED_NOW: Final = "Trading is locked."
_VIEWERS_LOCK: Final = (
    "Trading is locked on this machine only: you may only view the account, so ask a trader to lock the other machines."
)
KEYS_AFTER_S: Final = 0.5
"""How long an account that is entered from the overview must be on the screen before a key reaches it."""
_ALWAYS_TAKEN: Final = ("ctrl+q", "ctrl+c")
DROPPED_ON_ENTERING: Final = "What was typed before the account was on the screen was dropped."
_log = logging.getLogger(__name__)


class OpenDesk:
    """Builds and holds a desk and its alert notices; both are None while no desk is open."""

    def __init__(self) -> None:
        self.desk: Desk | None = None
        self.alert_notices: AlertNotices | None = None
        self._unsubscribers: tuple[Callable[[], None], ...] = ()
        self._stopping: asyncio.Future[None] | None = None
        self._left_behind: set[asyncio.Future[None]] = set()

    async def build(self, build: Callable[[], Desk]) -> Desk:
        """Build a desk in a thread; if the caller is cancelled meanwhile, the desk is stopped as soon as it is built.

        Nobody awaits that stop, because the building may itself wait for a person, as in a command that asks for a
        password.
        """
        building = asyncio.ensure_future(asyncio.to_thread(build))
        try:
            return await asyncio.shield(building)
        except asyncio.CancelledError:
            left_behind = asyncio.ensure_future(_stop_once_built(building))
            self._left_behind.add(left_behind)
            left_behind.add_done_callback(self._left_behind.discard)
            raise

    def follow(
        self,
        desk: Desk,
        make_notices: Callable[[Desk], AlertNotices],
        *,
        published: Callable[[Feed[FeedRow]], None],
        alerted: Callable[[Alert], None],
    ) -> None:
        """Hold an opened desk, and call back for everything it publishes and alerts until it is closed."""
        self.desk = desk
        self.alert_notices = alert_notices = make_notices(desk)
        delivery = desk.alerts.delivery
        delivery.desktop = alert_notices.show_on_desktop
        self._unsubscribers = (
            desk.subscribe(published),
            desk.alerts.subscribe(alerted),
            delivery.subscribe(alert_notices.say_failure),
        )

    async def close(self) -> None:
        """Drop the desk, and wait until it has stopped, or one that an earlier call began to stop."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self._unsubscribers = ()
        self.alert_notices = None
        if self.desk is not None:
            desk, self.desk = self.desk, None
            self._stopping = asyncio.ensure_future(desk.stop())
        if self._stopping is not None and not self._stopping.done():
            # The desk keeps stopping if the caller is cancelled: half stopped, it would keep its files open.
            await asyncio.shield(self._stopping)


async def _stop_once_built(building: asyncio.Future[Desk]) -> None:
    try:
        desk = await building
    except Exception:
        return  # there is nothing to stop, and no caller needs the reason
    try:
        await desk.stop()
    except Exception:
        _log.exception("a desk that nobody waited for could not be stopped")


MOUSE_ON: Final = "The mouse works here again."
MOUSE_OFF: Final = "The mouse is left to the terminal: its own selection works now. The palette switches it on again."


class TradeApp(TextualApp, inherit_bindings=False):
    CSS_PATH = Path(__file__).with_name("tradetui.tcss")
    TITLE = "tradetui"
    COMMANDS = {PALETTE}
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("app"),
        Binding("ctrl+q,ctrl+c", "leave", "Quit", show=False, system=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, system=True, priority=True),
    ]

    def __init__(self, settings: UiSettings) -> None:
        super().__init__(has_utf8=settings.terminal.has_utf8)
        self._take_settings(settings)
        self.preferences, self.chosen = settings.preferences, settings.chosen
        self.set_first_theme(first_theme(settings.theme, self.preferences.theme, settings.terminal))
        if self.settings.keys:
            self.set_keymap(dict(self.settings.keys))
        self._preference_writer = PreferenceWriter(self)
        self._open_desk = OpenDesk()
        self._main: MainScreen | None = None
        self._main_is_open = asyncio.Event()  # set once the main screen has replaced the start screen
        self.lookup: LookupScreen | None = None
        self.overview: Overview | None = None
        self._row_notices: AlertNotices | None = None
        self._drops_keys = False
        self._untold_lock: tuple[Intents, str] | None = None  # the message that others do not know of a lock

    def get_default_screen(self) -> Screen[Any]:
        """The start screen, painted before the main screen, which then is always the lowest, is imported."""
        return StartScreen(self.begin)

    @property
    def main(self) -> MainScreen:
        if self._main is None:
            self._main = cast("MainScreen", MAIN_SCREEN())
        return self._main

    def on_mount(self) -> None:
        self._show_notices()

    def _show_notices(self) -> None:
        for sentence in filter(None, (*map(str, self._key_troubles), self.settings.notice)):
            notify(self, sentence, severity="warning", seconds=10)

    def note_typing(self) -> None:
        if self.desk is not None:
            self.desk.alerts.delivery.typed()

    async def begin(self) -> None:
        """Open the chosen profile, and meanwhile replace the start screen by the main screen."""
        if not self.is_headless:
            self.postpone_garbage()
        if not self.settings.begins_with_overview:
            self.open_profile(self.chosen)
        with self.batch_update():
            await self.push_screen(self.main)
        self.main.refresh(layout=True)  # draws it for the first time, with its panels in their places
        self._main_is_open.set()
        if self.settings.begins_with_overview:
            self.open_overview()

    # Several accounts

    def open_overview(self) -> None:
        self.run_worker(self._open_overview(), group="overview", exclusive=True, exit_on_error=False)

    async def _open_overview(self) -> None:
        """Watch all accounts from now on, or show those that are watched already."""
        profiles = self.settings.overview
        if profiles is None:
            return
        if self.overview is None:
            try:
                overview = await asyncio.to_thread(profiles.overview)
            except Exception as problem:
                notify(self, f"The overview cannot be opened: {problem}", severity="error", seconds=30)
                return
            self.overview = overview
            overview.alerted = self._overview_alerted
            overview.start()
        await self._back_to_main()
        entered = "" if self.desk is None else self.desk.settings.name
        await self.push_screen(OVERVIEW_SCREEN(self.overview, entered))

    def enter_account(self, row: AccountRow) -> None:
        if not row.has_key:
            sentence = (
                f"{row.name} is a sub-account without a profile, and its main account's key cannot open it. "
                "`tradetui init --profile NAME` sets up a profile with the sub-account's own key."
            )
            notify(self, sentence, severity="warning", seconds=8)
            return
        if self.desk is not None and self.desk.settings.name in row.names:
            self.run_worker(self._enter_open_account(self.desk), name="open desk", exclusive=True, exit_on_error=False)
        else:
            names = [profile.name for profile in self.settings.profiles]
            self.open_profile(names.index(row.name), locked=True)

    async def _enter_open_account(self, desk: Desk) -> None:
        """Go back to the session that is open, which follows what it has sent, and lock it."""
        self._drops_keys = True
        if desk.intents is not None:
            desk.intents.lock.hold()
        await self._back_to_main()
        self._lock_changed()
        self._take_keys_once_painted()

    def _overview_alerted(self, row: AccountRow, alert: Alert) -> None:
        """Show the alert of an account that has no session of its own here: the open one shows its own."""
        if not self.is_running or self.overview is None:
            return
        if self.desk is not None and self.desk.settings.name in row.names:
            return
        if self._row_notices is None:
            self._row_notices = cast("AlertNotices", ALERT_NOTICES(self, None, os.environ))
        self._row_notices.show_of_row(alert, self.overview.clock.monotonic())

    async def _dispatch_key(self, event: TypedInput) -> None:
        """Drop what was typed before the account that is being entered was on the screen for a moment.

        Locking at once and quitting work all the same.
        """
        key = event.key if isinstance(event, events.Key) else ""
        if self._drops_keys and key not in _ALWAYS_TAKEN:
            if key and await self._check_bindings(key, priority=True):
                return
            notify(self, DROPPED_ON_ENTERING, severity="warning", seconds=4)
        else:
            await super()._dispatch_key(event)

    def _take_keys_again(self) -> None:
        self._drops_keys = False

    # The desk

    @property
    def desk(self) -> Desk | None:
        return self._open_desk.desk

    def open_profile(self, chosen: int, *, locked: bool = False) -> None:
        if self.desk is not None and self.desk.holds_unsaved_keys:
            sentence = f"New API keys are not saved yet; {self.key_named(Action.CREATE)} shows what to do first."
            notify(self, sentence, severity="error")
            return
        self._drops_keys = self.overview is not None
        work = self._open(chosen, locked)
        self.run_worker(work, name="open desk", exclusive=True, exit_on_error=False)

    async def _open(self, chosen: int, locked: bool) -> None:
        """Open a profile; the first one is opened while the main screen is still being imported and put together.

        If it is `locked`, the session starts so, whatever its profile says.
        """
        profile, is_first = self.settings.profiles[chosen], not self._main_is_open.is_set()
        self.chosen = chosen
        if not is_first:
            await self._back_to_main()
            self.main.opening(profile.name)
        try:
            await self._open_desk.close()
            if not is_first and profile.appearance is not None:
                await self._preference_writer.written()
                self.use_appearance(await asyncio.to_thread(profile.appearance))
            # All large modules are imported while a thread builds the desk, after the first paint.
            desk = await self._open_desk.build(profile.open_desk)
            if (intents := desk.intents) is not None:
                intents.profile_to_name = lambda: profile.name if len(self.settings.profiles) > 1 else ""
                if locked:
                    intents.lock.hold()
            self._open_desk.follow(desk, self._make_notices, published=self._published, alerted=self.alerted)
            await desk.client.prepare()
        except Exception as problem:
            self.failure = f"{profile.name} cannot be opened: {problem}"
            try:
                await self._open_desk.close()
            except Exception:
                _log.exception("the desk of %s could not be stopped", profile.name)
            await self._main_is_open.wait()
            self.main.cannot_open(self.failure)
            self._take_keys_once_painted()
            return
        self.failure = None
        await self._main_is_open.wait()
        self.main.opened()
        self._take_keys_once_painted()
        desk.start()

    def _take_keys_once_painted(self) -> None:
        """Take keys again when the account has been on the screen for half a second."""
        self.main.call_after_refresh(self.set_timer, KEYS_AFTER_S, self._take_keys_again)

    def _make_notices(self, desk: Desk) -> AlertNotices:
        return cast("AlertNotices", ALERT_NOTICES(self, desk.alerts.settings.desktop_sequence, os.environ))

    def refresh_header(self) -> None:
        self.main.refresh_header()

    def _published(self, feed: Feed[FeedRow] | None) -> None:
        if self.is_running:
            self._withdraw_untold_lock()
            self.main.published(feed)
            for screen in self.screen_stack:
                is_seen = screen.is_mounted and (screen.is_current or not screen.is_modal)
                if is_seen and isinstance(screen, FollowsDesk):
                    screen.desk_changed()

    def alerted(self, alert: Alert) -> None:
        notices = self._open_desk.alert_notices
        if self.is_running and self.desk is not None and notices is not None:
            notices.show(alert, self.desk.clock.monotonic())

    async def on_unmount(self) -> None:
        self.key_order.stop()
        await self._open_desk.close()
        if self.overview is not None:
            await self.overview.stop()

    # The lock of trading

    def action_lock_at_once(self) -> None:
        """Lock trading, from any screen or dialog."""
        if self.desk is None or self.desk.intents is None:
            notify(self, f"{LOCKS_NOBODY[0].upper()}{LOCKS_NOBODY[1:]}.", severity="warning", seconds=8)
        else:
            self.run_worker(self._lock(self.desk.intents), exit_on_error=False)

    async def _lock(self, intents: Intents) -> None:
        written = intents.set_lock(True)
        self._lock_changed()
        if await written:
            if intents.locked:
                notify(self, LOCKED_NOW)
            return
        self._lock_changed()
        if intents.may_only_view and not intents.trouble:
            notify(self, _VIEWERS_LOCK, severity="warning", seconds=30)
            return
        why = intents.trouble or intents.store_trouble.rstrip(".") or "the journal cannot be used"
        is_on_disk = intents.lock.unwritten is None and not intents.trouble
        here = "on this machine" if is_on_disk else "in this session"
        sentence = f"Trading is locked {here} only: other sessions of the account do not know it ({why})."
        if is_on_disk and intents.shared is not None and intents.shared.away_s is not None:
            sentence += " It reaches them once the store is back."
        if self._untold_lock is not None:
            withdraw(self, self._untold_lock[1])  # it may give another reason
        self._untold_lock = intents, sentence
        notify(self, sentence, severity="error", seconds=600)

    def _withdraw_untold_lock(self) -> None:
        """Take back the message that others do not know of a lock, once they do or it is undone."""
        if self._untold_lock is not None and not self._untold_lock[0].lock_is_untold:
            withdraw(self, self._untold_lock[1])
            self._untold_lock = None

    def lock_or_unlock(self) -> None:
        """Lock trading at once; unlocking asks first, on top of any dialog.

        With a lost journal, or an older copy of the store, it names the loss and asks whether to continue without it;
        with a failing journal, whether to try again. If the API key is another account's, it says so and unlocks
        nothing.
        """
        desk = self.desk
        if desk is None or (intents := desk.intents) is None:
            self.action_lock_at_once()
        elif intents.other_owner:
            notify(self, intents.other_owner, severity="error", seconds=30)
        elif intents.loss is not None:
            self.push_screen(LOST_JOURNAL_DIALOG(intents))
        elif intents.shared is not None and intents.shared.went_back:
            self.push_screen(OLDER_STORE_DIALOG(intents))
        elif intents.fault is not None:
            self.run_worker(ASK_TO_TRY_JOURNAL_AGAIN(self, intents, self._lock_changed), exit_on_error=False)
        elif not intents.locked:
            self.action_lock_at_once()
        else:
            self.run_worker(self._ask_to_unlock(desk, intents))

    async def _ask_to_unlock(self, desk: Desk, intents: Intents) -> None:
        question = f"Unlock trading on {desk.settings.environment} {intents.account_tag or desk.settings.name}?"
        if intents.may_only_view:
            question = f"You may only view the account, and you remove only the lock of this machine. {question}"
        elif intents.shared is not None and (others := intents.shared.locks_of_others):
            question = f"{' '.join(map(str, others))} You remove only your own lock. {question}"
        action = " · ".join(filter(None, ("Unlock", intents.account_tag)))
        if await self.push_screen_wait(CONFIRM_DIALOG("Unlock trading", question, action)):
            unlocked = intents.set_lock(False)
            withdraw(self, LOCKED_NOW)
            self._lock_changed()
            await unlocked
            if intents.lock.in_store:
                sentence = f"Trading stays locked. {intents.lock.in_store}"
                notify(self, sentence, severity="warning", seconds=30)
            self._lock_changed()

    def _lock_changed(self) -> None:
        """Show the lock at once, also in and behind a dialog, whose button is refused from now on."""
        self.refresh_header()
        self._published(None)

    # Screens

    @property
    def keyed_screen(self) -> KeyedScreen:
        return next(
            (screen for screen in reversed(self.screen_stack) if has_keys_of_its_own(screen)), self.lookup or self.main
        )

    def open_lookup(self, table: str, texts: Mapping[str, str] | None = None) -> None:
        before, self.lookup = self.lookup, cast("LookupScreen", LOOKUP_SCREEN(table, texts))
        if before is None:
            self.push_screen(self.lookup)
        else:
            self.switch_screen(self.lookup)
        self.main.set_paces()

    async def open_panel(self, name: str) -> None:
        await self.leave_lookup()
        await self.main.action_panel(name)

    async def leave_lookup(self) -> None:
        if self.lookup is not None:
            await self._back_to_main()

    async def _back_to_main(self) -> None:
        """Close every screen and dialog: they show the desk that was open."""
        self.lookup = None
        while self.screen is not self.main:
            await self.pop_screen()
        self.main.set_paces()

    # Actions of every screen

    def _take_settings(self, settings: UiSettings) -> None:
        """Use settings with their valid keys, and note why other keys are invalid."""
        own = profile_bindings(settings.keys)
        self.settings, self._key_troubles = replace(settings, keys=own.taken), own.troubles

    def use_appearance(self, appearance: ProfileAppearance) -> None:
        self._take_settings(self.settings.with_appearance(appearance))
        self.preferences = self.settings.preferences
        self.theme = first_theme(self.settings.theme, self.preferences.theme, self.settings.terminal)
        self.set_keymap(dict(self.settings.keys))
        self.switch_mouse(on=self.settings.mouse)
        self.main.use_settings()
        self._show_notices()

    def use_mouse(self, *, on: bool) -> None:
        self.settings = replace(self.settings, mouse=on)
        self.switch_mouse(on=on)
        notify(self, MOUSE_ON if on else MOUSE_OFF, seconds=8)

    def choose_theme(self, name: str) -> None:
        self.theme = name
        self._remember(replace(self.preferences, theme=name))

    def remember_table(self, name: str, choice: TableChoice) -> None:
        self._remember(self.preferences.with_table(name, choice))

    def _remember(self, preferences: ScreenPreferences) -> None:
        if preferences == self.preferences:
            return
        self.preferences = preferences
        self._preference_writer.write(self.settings.profiles[self.chosen].name, self.settings.keep, preferences)

    def key_named(self, action: Action) -> str:
        return key_named(action, self.settings.keys)

    def action_leave(self) -> None:
        reasons = []
        if self.desk is not None and self.desk.holds_unsaved_keys:
            reasons.append("NEW API KEYS ARE IN MEMORY ONLY; quitting may lose them.")
        if self.desk is not None and self.desk.intents is not None and (unsettled := self.desk.intents.unsettled()):
            reasons.append(f"Not settled yet: {', '.join(unsettled)}")
        if not reasons:
            self.exit()
            return
        self.run_worker(self._ask_to_quit("\n".join((*reasons, "Quit all the same?"))))

    async def _ask_to_quit(self, question: str) -> None:
        if await self.push_screen_wait(CONFIRM_DIALOG("Quit", question, "Quit")):
            self.exit()

    def action_help(self) -> None:
        self.push_screen(HELP_DIALOG(self.settings.keys, self.keyed_screen))

    def copy(self, text: str | None, what: str) -> None:
        if text is None:
            notify(self, "Nothing to copy: no row under the cursor.", severity="warning")
            return
        text = text.strip()
        self.copy_to_clipboard(text)
        shown = text.replace("\t", "  ")
        notify(self, f"Copied {what}: {shown if len(shown) <= 60 else shown[:59] + '…'}")
