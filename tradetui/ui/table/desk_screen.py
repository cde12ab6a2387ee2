"""The base of every screen of an open account except dialogs: which keys can do something now, and the newest alert."""

from __future__ import annotations

from abc import abstractmethod
from datetime import UTC, date, tzinfo
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on

from tradetui.desk.settings import Access
from tradetui.desk.tables.table import LOOKUPS
from tradetui.desk.tables.time_format import moment_text
from tradetui.desk.tables.time_zones import MachineZone, zone_named
from tradetui.ui.app_protocols import (
    ALERTS_SCREEN,
    ASK_FOR_SCREEN,
    JOURNAL_SCREEN,
    MONEY_SCREEN,
    OPEN_CREATION,
    TradingApp,
    trading_app,
)
from tradetui.ui.key_bindings.actions import MONITOR_MODE, SCREEN_NAMES, UNIFIED_IS_READ, Action
from tradetui.ui.key_bindings.profile_bindings import actions_of_key, bindings
from tradetui.ui.safe_text import Notice, notify
from tradetui.ui.terminal.drawn_once import StyledOnce
from tradetui.wire.exchange_time import utc_moment

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.ui.settings.ui_settings import UiSettings

NEWEST_ALERT: Final = "newest-alert"  # the id of the line above the keys, in which it covers no figure
STARTING: Final = "still starting"
ACCOUNT_UNKNOWN: Final = "the account is not known yet"
_BY_TEXTUAL_ACTION: Final = {(where, action.textual_action): action for action in Action for where in action.where}


class DeskScreen(StyledOnce[None]):
    """A screen that is no dialog. `where` is its name among the screens of actions, which gives it its bindings.

    `reason` is why an action can do nothing now. An action with a reason does not run by its key, a click on its hint
    or the palette: the application asks `refuses` first, which shows the reason.
    """

    where: ClassVar[str] = ""

    def __init_subclass__(cls, **options: bool) -> None:
        if "where" in vars(cls):
            cls.BINDINGS = bindings(cls.where)
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._take_zone()

    def _take_zone(self) -> None:
        self.zone: tzinfo = zone_named(self.settings.timezone)
        self._home_zone = self.zone if self.zone is not UTC else MachineZone()

    @property
    def today(self) -> date | None:
        """The day in the zone by the desk's clock; None while no desk is open."""
        return None if self.desk is None else utc_moment(self.now_ms).astimezone(self.zone).date()

    @property
    def now_ms(self) -> int:
        """The time by the desk's clock, in Unix milliseconds; 0 while no desk is open."""
        return 0 if self.desk is None else self.desk.clock.wall_ms()

    @property
    def trade_app(self) -> TradingApp:
        return trading_app(self)

    @property
    def settings(self) -> UiSettings:
        return self.trade_app.settings

    @property
    def desk(self) -> Desk | None:
        return self.trade_app.desk

    @property
    def screen_name(self) -> str:
        """Its name in the list of screens; for a screen of panels or records that of the panel or the kind."""
        return self.where

    # Textual's metaclass is no ABCMeta, so only mypy checks that every screen has this method.
    @abstractmethod
    def refresh_states(self) -> None: ...
    def reason(self, action: Action) -> str | None:
        """Why an action can do nothing now; None if it can."""
        desk = self.desk
        if action in LOOKUPS:
            return STARTING if desk is None else desk.lookups.blocking_reason(action)
        match action:
            case Action.ALERTS | Action.MONEY if desk is None:
                return STARTING
            case Action.OVERVIEW if self.settings.overview is None:
                return "an overview needs a second profile; `tradetui init --profile NAME` sets one up"
            case Action.JOURNAL if desk is None or desk.intents is None:
                return "monitor mode opens no journal; `tradetui journal` lists the account's"
            case Action.CREATE if desk is not None and desk.access is Access.UNIFIED:
                return UNIFIED_IS_READ
            case Action.CREATE if desk is not None and desk.access is Access.MONITOR:
                return MONITOR_MODE
            case Action.CREATE if desk is None or not desk.may_create:
                return "nothing can be created: the profile does not set account_admin"
        return None

    def refuses(self, textual_action: str) -> bool:
        """Show why one of Textual's actions can do nothing now; returns False if it can."""
        action = _BY_TEXTUAL_ACTION.get((self.where, textual_action))
        reason = None if action is None else self.reason(action)
        if reason is not None:
            # The first letter becomes a capital, because no sentence begins with a setting's name.
            notify(self.app, f"{reason[:1].upper()}{reason[1:]}.", severity="warning")
        return reason is not None

    def say_unbound(self, event: events.Key) -> None:
        """Show that a character does nothing on this screen, and on which screen it works; nothing for a paste."""
        if not event.is_printable or self.trade_app.key_order.in_burst:
            return
        sentence = f"{event.character} does nothing here{self._elsewhere(event.key)}."
        notify(self.app, f"{sentence} {self.key_named(Action.HELP)} lists the keys.", severity="warning", seconds=4)

    def _elsewhere(self, key: str) -> str:
        """Describe a key's effect on another screen, first those that `back` leads to; empty if it has none."""
        of_key = actions_of_key(key, self.settings.keys)
        beneath = [screen.where for screen in reversed(self.app.screen_stack) if isinstance(screen, DeskScreen)]
        for name in (*beneath, *(action.where[0] for action in of_key)):
            for action in of_key:
                if name in action.where and name in SCREEN_NAMES:
                    return f": it is {action.description} in {SCREEN_NAMES[name]}"
        return ""

    def key_named(self, action: Action) -> str:
        return self.trade_app.key_named(action)

    # Other screens

    @on(events.ScreenResume)
    def show_alert(self) -> None:
        self.say_newest_alert(self.desk)

    def say_newest_alert(self, desk: Desk | None) -> None:
        """Show the newest alert of a desk with its time; nothing once the list of alerts was opened."""
        alerts, sentence = desk.alerts if desk is not None else None, ""
        if alerts is not None and alerts.unseen and alerts.newest is not None:
            moment = moment_text(utc_moment(alerts.newest.at_ms), self.zone, self.today)
            sentence = f"{moment}  {alerts.newest.sentence}"
        # A screen that is being opened has no such line yet; it shows the alert once opened.
        for line in self.children:
            if isinstance(line, Notice) and line.id == NEWEST_ALERT:
                line.say(sentence)

    def action_create(self) -> None:
        if self.desk is not None and self.desk.creation is not None:
            OPEN_CREATION(self.app, self.desk.creation, None)

    def action_lookup(self, table: str) -> None:
        self.trade_app.open_lookup(table)

    def action_overview(self) -> None:
        self.trade_app.open_overview()

    def action_screens(self) -> None:
        # A worker of the application: opening a screen may close this one.
        self.app.run_worker(ASK_FOR_SCREEN(self))

    def action_journal(self) -> None:
        self.app.push_screen(JOURNAL_SCREEN())

    def action_alerts(self) -> None:
        self.app.push_screen(ALERTS_SCREEN())

    def action_money(self) -> None:
        if self.desk is not None:
            now_ms = self.desk.client.server_clock.now_ms
            self.app.push_screen(MONEY_SCREEN(now_ms))
