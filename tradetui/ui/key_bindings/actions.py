"""Every action that has a key: help, hints, palette, `tradetui keys` and the manual are made from this one list.

It holds no Textual, so that the command line can print it. An action belongs to the screens that its `where` names;
the groups of screens below are what several actions share.

A new action needs a method `action_…` on every screen of its `where`, and a case in `reason` of a screen on which it
may do nothing. One that moves the cursor is a `Move`, which tables and the panels of results take. `r` stays free.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum, auto
from functools import cache
from typing import Final, NamedTuple, Self

from tradetui.desk.tables.table import PANELS, TABLES, TableName

MAIN: Final = ("main",)
LOOKUP: Final = ("lookup",)
MAIN_AND_LOOKUP: Final = ("main", "lookup")
ONLY_MONEY: Final = ("money",)
OF_MONEY: Final = ("money", "trips")
RECORDS: Final = ("main", "lookup", "journal", "history", "alerts")
OF_ACCOUNTS: Final = ("overview",)
LISTS: Final = (*RECORDS, *OF_MONEY, *OF_ACCOUNTS)
KEYED: Final = (*LISTS, "detail")
POLLED: Final = (*MAIN_AND_LOOKUP, "history")
DATED: Final = ("main", "history", "money")
ZOOMED: Final = (*MAIN_AND_LOOKUP, "money", "overview")
PANELLED: Final = (*MAIN_AND_LOOKUP, "alerts", "money")
EVERYWHERE: Final = ("app",)
SCREEN_NAMES: Final[Mapping[str, str]] = {
    "main": "the main screen",
    "lookup": "the screen of a lookup",
    "journal": "the journal",
    "history": "the history of a panel",
    "alerts": "the alerts",
    "detail": "a row's detail",
    "money": "the screen of results",
    "trips": "the round trips",
    "overview": "the overview of your accounts",
}
"""The names of screens in a sentence."""


class Move(StrEnum):
    UP = auto()
    DOWN = auto()
    LEFT = auto()
    RIGHT = auto()
    PAGE_UP = auto()
    PAGE_DOWN = auto()
    FIRST = auto()
    LAST = auto()


class KeyRow(NamedTuple):
    """One line of the key table: `keys` as a person writes them."""

    id: str
    keys: str
    description: str


_Row = tuple[str, str, str, str, str, str, tuple[str, ...]]


def _opens(name: TableName) -> _Row:
    table, is_panel = TABLES[name], name in PANELS
    opens, verb, group = ("panel", "focus", "Panels") if is_panel else ("lookup", "look up", "Records")
    return name, table.key, f"{opens}('{name}')", table.label, f"{verb} {table.subject}", group, MAIN_AND_LOOKUP


def _move(move: Move, keys: str, description: str, tooltip: str) -> _Row:
    return move, keys, f"move('{move}')", description, tooltip, "Rows", KEYED


class Action(StrEnum):
    """An action that has a key. Its value is its id in the configuration.

    `keys` and `textual_action` are Textual's names. `where` names its screens; `hint` puts it into the bottom line. The
    key of an action that works `in_dialogs` runs it before the focused widget gets the key.
    """

    keys: str
    textual_action: str
    description: str
    tooltip: str
    group: str
    where: tuple[str, ...]
    hint: bool
    in_dialogs: bool

    def __new__(
        cls,
        id_: str,
        keys: str = "",
        textual_action: str = "",
        description: str = "",
        tooltip: str = "",
        group: str = "",
        where: tuple[str, ...] = MAIN,
        hint: bool = False,
        in_dialogs: bool = False,
    ) -> Self:
        action = str.__new__(cls, id_)
        action._value_ = str(id_)
        action.keys, action.textual_action, action.group = keys, textual_action, group
        action.description, action.tooltip = description, tooltip
        action.where, action.hint, action.in_dialogs = where, hint, in_dialogs
        return action

    # fmt: off
    HELP = "help", "question_mark,f1", "app.help", "Help", "every key and what it does", "Anywhere", KEYED, True
    PALETTE = "palette", "ctrl+p", "command_palette", "Palette", "every action by name", "Anywhere", EVERYWHERE
    BACK = "back", "escape", "back", "Back", "close, clear filter, dates and messages, leave zoom", "Anywhere", KEYED
    QUIT = "quit", "q", "leave", "Quit", "quit; asks first while an outcome is unknown", "Anywhere", KEYED
    SCREENS = "screens", "o", "screens", "Screens", "everything that can be opened", "Anywhere", MAIN_AND_LOOKUP, True
    NEXT_PANEL = "next_panel", "tab", "next_panel(1)", "Next panel", "focus the next panel", "Panels", PANELLED
    PREVIOUS_PANEL = (
        "previous_panel", "shift+tab", "next_panel(-1)", "Previous panel", "focus the one before", "Panels", PANELLED
    )
    ACCOUNTS = _opens(TableName.ACCOUNTS)
    POSITIONS = _opens(TableName.POSITIONS)
    ORDERS = _opens(TableName.ORDERS)
    FILLS = _opens(TableName.FILLS)
    TRIGGERS = _opens(TableName.TRIGGERS)
    ZOOM = "zoom", "z", "zoom", "Zoom", "this panel on the whole screen", "Panels", ZOOMED, True
    SPOT_FILLS = _opens(TableName.SPOT_FILLS)
    SPOT_BILLS = _opens(TableName.SPOT_BILLS)
    CONVERT = _opens(TableName.CONVERT)
    TRANSFERS = _opens(TableName.TRANSFERS)
    EMAIL = _opens(TableName.EMAIL)
    QUERY = "query", "f", "query", "Query", "choose coin, type and time", "Records", LOOKUP, True
    READ_ALL = "read_all", "a", "read_all", "Read all", "every older page", "Records", LOOKUP, True
    UP = _move(Move.UP, "up,k", "Up", "one row up")
    DOWN = _move(Move.DOWN, "down,j", "Down", "one row down")
    LEFT = _move(Move.LEFT, "left,h", "Left", "one column to the left")
    RIGHT = _move(Move.RIGHT, "right,l", "Right", "one column to the right")
    PAGE_UP = _move(Move.PAGE_UP, "pageup", "Page up", "one page up")
    PAGE_DOWN = _move(Move.PAGE_DOWN, "pagedown", "Page down", "one page down")
    FIRST = _move(Move.FIRST, "g,home", "First row", "to the first row")
    LAST = _move(Move.LAST, "G,end", "Last row", "to the last row")
    DETAIL = "detail", "enter", "detail", "Detail", "every field of this row", "Rows", RECORDS, True
    ROWS = "rows", "enter", "detail", "Rows", "the fills that a figure, day or trip is made of", "Rows", OF_MONEY, True
    FILTER = "filter", "slash", "filter", "Filter", "rows that match a pattern; ! inverts", "Rows", LISTS, True
    SORT = "sort", "s", "sort", "Sort", "by a column of the list; twice: by this column", "Rows", LISTS, True
    SORT_REVERSE = "sort_reverse", "S", "sort_reverse", "Reverse sort", "turn the order round", "Rows", LISTS
    SORT_UNDO = "sort_undo", "backspace", "sort_undo", "Undo sort", "undo the last change of order", "Rows", LISTS
    COPY_CELL = "copy_cell", "y", "copy_cell", "Copy cell", "the cell under the cursor (OSC 52)", "Rows", KEYED
    COPY_ROW = "copy_row", "Y", "copy_row", "Copy row", "the row under the cursor (OSC 52)", "Rows", KEYED
    COLUMNS = (
        "columns", "c", "columns", "Columns", "which are shown, in which order, how wide", "Rows",
        (*MAIN_AND_LOOKUP, "history", "overview"),
    )
    DATES = "dates", "f", "dates", "Dates", "from when to when, and which symbols", "Rows", DATED, True
    EXPORT = "export", "e", "export", "Export", "the rows as shown, into a CSV or JSON file", "Rows", LISTS
    VIEW = "view", "v", "view", "View", "the other view of this panel", "View", MAIN, True
    HISTORY = "history", "H", "history", "History", "every fill, or stop that ended, ever seen", "View", MAIN
    MONEY = "money", "m", "money", "Money", "what the account made, by day and symbol", "Money", MAIN_AND_LOOKUP, True
    PERIOD_BEFORE = (
        "period_before", "left_square_bracket", "period(-1)", "Shorter", "a shorter period", "Money", ONLY_MONEY, True
    )
    PERIOD_AFTER = "period_after", "right_square_bracket", "period(1)", "Longer", "a longer period", "Money", ONLY_MONEY
    GROUP = "group", "b", "group", "Group", "results by symbol, by day or by coin", "Money", ONLY_MONEY, True
    CHART = "chart", "v", "chart", "Chart", "equity, or the result by day", "Money", ONLY_MONEY, True
    TRIPS = "trips", "t", "trips", "Trips", "round trips, from flat to flat", "Money", ONLY_MONEY, True
    MONTH_BEFORE = (
        "month_before", "left_curly_bracket", "month(-1)", "Month before", "on the calendar", "Money", ONLY_MONEY
    )
    MONTH_AFTER = (
        "month_after", "right_curly_bracket", "month(1)", "Month after", "on the calendar", "Money", ONLY_MONEY
    )
    ALERTS = "alerts", "A", "alerts", "Alerts", "your alerts, and those that fired", "View", MAIN_AND_LOOKUP, True
    TEST_ALERT = (
        "test_alert", "t", "test_alert", "Test", "send a test everywhere this alert goes", "View", ("alerts",), True
    )
    SILENCE = "silence", "x", "silence", "Silence", "this alert, or let it sound again", "View", ("alerts",), True
    NEW_ALERT = "new_alert", "n", "new_alert", "New alert", "make an alert", "View", ("alerts",), True
    DELETE_ALERT = (
        "delete_alert", "d,delete", "delete_alert", "Delete", "this alert, if it was made here", "View",
        ("alerts",), True,
    )
    POSITION_ALERT = "position_alert", "a", "position_alert", "Alert", "make an alert about this symbol", "View", MAIN
    PRODUCT = "product", "p", "product", "Product", "one product type, the next, or all", "View", MAIN, True
    OVERVIEW = "overview", "O", "overview", "Overview", "all your accounts, a row each", "View", MAIN_AND_LOOKUP
    ENTER_ACCOUNT = (
        "enter_account", "enter", "detail", "Open", "this account in a locked session", "Rows",
        OF_ACCOUNTS, True,
    )
    ACCOUNT_DETAIL = (
        "account_detail", "d", "account_detail", "Detail", "every figure of this account", "Rows", OF_ACCOUNTS, True
    )
    PROFILE = "profile", "P", "profile", "Profile", "pick another account", "View"
    POLL_NOW = "poll_now", "u", "poll_now", "Read now", "read this panel again at once", "View", POLLED
    PAUSE = "pause", "space", "pause", "Pause", "stop painting; reading goes on", "View", MAIN, True
    ZONE = "zone", "T", "zone", "UTC/local", "times in UTC or in local time", "View", KEYED
    REVERSE = "reverse", "R", "reverse", "Reverse", "the position under the cursor", "Trading", MAIN, True
    JOURNAL = "journal", "J", "journal", "Journal", "what was sent, and its outcome", "Trading", MAIN_AND_LOOKUP
    RELEASE = "release", "x", "release", "Release", "free a symbol whose outcome is unknown", "Trading", ("journal",)
    LOCK = "lock", "L", "lock", "Lock", "lock trading at once; unlocking asks", "Trading", MAIN, True
    LOCK_ALL = (
        "lock_all", "L", "lock_all", "Lock all", "lock trading in every account", "Trading", OF_ACCOUNTS, True
    )
    LOCK_AT_ONCE = (
        "lock_at_once", "f9", "lock_at_once", "Lock at once", "on every screen, in dialogs too", "Trading",
        EVERYWHERE, False, True,
    )
    CREATE = (
        "create", "N", "create", "Create", "sub-accounts and API keys; those you created", "Account", MAIN_AND_LOOKUP
    )
    # fmt: on


MONITOR_MODE: Final = "monitor mode: nothing can be sent"
LOCKS_NOBODY: Final = "this session sends nothing and locks no other session. Lock trading in a session that trades"
UNIFIED_IS_READ: Final = (
    "a unified account is only read, and the exchange has no reversal for it: trade a sub-account in classic mode "
    "here, or this one on the exchange's web page"
)
_NAMES: Final = {
    "slash": "/",
    "backslash": "\\",
    "at": "@",
    "minus": "-",
    "plus": "+",
    "underscore": "_",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "escape": "Esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}


def key_table(changed_keys: Mapping[str, str]) -> list[KeyRow]:
    """Every action as a row; `changed_keys` are the profile's own keys in force, by the action's id."""
    return [
        KeyRow(action, shown_keys(changed_keys.get(action, action.keys)), f"{action.description}: {action.tooltip}")
        for action in Action
    ]


def bound_keys(action: Action, changed_keys: Mapping[str, str]) -> list[str]:
    """The keys of an action by Textual's names; `changed_keys` are the profile's, by the action's id."""
    return [key.strip() for key in (changed_keys.get(action) or action.keys).split(",")]


def key_named(action: Action, changed_keys: Mapping[str, str]) -> str:
    """The first key of an action as a person writes it, for a sentence; `changed_keys` are the profile's."""
    return shown_keys(bound_keys(action, changed_keys)[0])


@cache
def shown_keys(keys: str) -> str:
    """Keys as printed: `? F1` for `question_mark,f1`."""
    return " ".join(_shown_key(key.strip()) for key in keys.split(","))


def _shown_key(key: str) -> str:
    """A key as keyboards name it: `Ctrl+R`, `F5`; a letter or sign as it is typed."""
    if key in _NAMES or len(key) == 1:
        return _NAMES.get(key, key)
    *modifiers, last = key.split("+")
    shown = _NAMES.get(last) or _sign(last) or last.capitalize()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def _sign(name: str) -> str:
    """The sign of this Unicode name, such as `full_stop`; empty if it names no visible sign."""
    try:
        sign = unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return ""
    return sign if sign.isprintable() and sign != " " else ""
