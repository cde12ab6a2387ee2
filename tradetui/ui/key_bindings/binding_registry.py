"""The one registry of key bindings, from which help, hints, palette, `tradetui keys` and the manual are made.

It holds no Textual, so that the command line can print it. A binding belongs to the screens that its `where` names;
the groups of screens below are what several bindings share.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum, auto
from functools import cache
from typing import Final, NamedTuple

from tradetui.desk.tables.table import LOOKUPS, PANELS, Table, TableName

MAIN: Final = ("main",)
LOOKUP: Final = ("lookup",)
SCREENS: Final = ("main", "lookup")
MONEY: Final = ("money",)
OF_MONEY: Final = ("money", "trips")
RECORDS: Final = ("main", "lookup", "journal", "history", "alerts")
LISTS: Final = (*RECORDS, *OF_MONEY)
KEYED: Final = (*LISTS, "detail")
POLLED: Final = (*SCREENS, "history")
DATED: Final = ("main", "history", "money")
PANELLED: Final = (*SCREENS, "alerts", "money")
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
}
"""The names of screens in a sentence."""


class KeyBinding(NamedTuple):
    """One binding: `id` for the configuration, Textual's key names, the action, and its description.

    `where` names its screens; `hint` puts it into the bottom line. A binding that works `in_dialogs` runs before the
    focused widget gets the key.
    """

    id: str
    keys: str
    action: str
    description: str
    tooltip: str
    group: str
    where: tuple[str, ...] = MAIN
    hint: bool = False
    in_dialogs: bool = False


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
    """One line of the key table: `keys` as a person writes them, `when` the reason it may be disabled."""

    id: str
    keys: str
    description: str
    group: str = ""
    when: str = ""


def _opens(table: Table[object], action: str, verb: str, group: str) -> KeyBinding:
    tooltip = f"{verb} {table.subject}"
    return KeyBinding(table.name, table.key, f"{action}('{table.name}')", table.label, tooltip, group, SCREENS)


def _moves(move: Move, keys: str, description: str, tooltip: str) -> KeyBinding:
    return KeyBinding(move, keys, f"move('{move}')", description, tooltip, "Rows", KEYED)


BINDINGS: Final = (
    KeyBinding("help", "question_mark,f1", "app.help", "Help", "every key and what it does", "Anywhere", KEYED, True),
    KeyBinding("palette", "ctrl+p", "command_palette", "Palette", "every action by name", "Anywhere", EVERYWHERE),
    KeyBinding(
        "back", "escape", "back", "Back", "close, clear filter, dates and messages, leave zoom", "Anywhere", KEYED
    ),
    KeyBinding("quit", "q", "leave", "Quit", "quit; asks first while an outcome is unknown", "Anywhere", KEYED),
    KeyBinding("screens", "o", "screens", "Screens", "everything that can be opened", "Anywhere", SCREENS, True),
    KeyBinding("next_panel", "tab", "next_panel(1)", "Next panel", "focus the next panel", "Panels", PANELLED),
    KeyBinding(
        "previous_panel", "shift+tab", "next_panel(-1)", "Previous panel", "focus the one before", "Panels", PANELLED
    ),
    *(_opens(table, "panel", "focus", "Panels") for table in PANELS.values()),
    KeyBinding("zoom", "z", "zoom", "Zoom", "this panel on the whole screen", "Panels", (*SCREENS, "money"), True),
    *(_opens(table, "lookup", "look up", "Records") for table in LOOKUPS.values()),
    KeyBinding("query", "f", "query", "Query", "choose coin, type and time", "Records", LOOKUP, True),
    KeyBinding("read_all", "a", "read_all", "Read all", "every older page", "Records", LOOKUP, True),
    _moves(Move.UP, "up,k", "Up", "one row up"),
    _moves(Move.DOWN, "down,j", "Down", "one row down"),
    _moves(Move.LEFT, "left,h", "Left", "one column to the left"),
    _moves(Move.RIGHT, "right,l", "Right", "one column to the right"),
    _moves(Move.PAGE_UP, "pageup", "Page up", "one page up"),
    _moves(Move.PAGE_DOWN, "pagedown", "Page down", "one page down"),
    _moves(Move.FIRST, "g,home", "First row", "to the first row"),
    _moves(Move.LAST, "G,end", "Last row", "to the last row"),
    KeyBinding("detail", "enter", "detail", "Detail", "every field of this row", "Rows", RECORDS, True),
    KeyBinding(
        "rows", "enter", "detail", "Rows", "the fills that a figure, day or trip is made of", "Rows", OF_MONEY, True
    ),
    KeyBinding("filter", "slash", "filter", "Filter", "rows that match a pattern; ! inverts", "Rows", LISTS, True),
    KeyBinding("sort", "s", "sort", "Sort", "by a column of the list; twice: by this column", "Rows", LISTS, True),
    KeyBinding("sort_reverse", "S", "sort_reverse", "Reverse sort", "turn the order round", "Rows", LISTS),
    KeyBinding("sort_undo", "backspace", "sort_undo", "Undo sort", "undo the last change of order", "Rows", LISTS),
    KeyBinding("copy_cell", "y", "copy_cell", "Copy cell", "the cell under the cursor (OSC 52)", "Rows", KEYED),
    KeyBinding("copy_row", "Y", "copy_row", "Copy row", "the row under the cursor (OSC 52)", "Rows", KEYED),
    KeyBinding(
        "columns", "c", "columns", "Columns", "which are shown, in which order, how wide", "Rows", (*SCREENS, "history")
    ),
    KeyBinding("dates", "f", "dates", "Dates", "from when to when, and which symbols", "Rows", DATED, True),
    KeyBinding("export", "e", "export", "Export", "the rows as shown, into a CSV or JSON file", "Rows", LISTS),
    KeyBinding("view", "v", "view", "View", "the other view of this panel", "View", MAIN, True),
    KeyBinding("history", "H", "history", "History", "every fill, or stop that ended, ever seen", "View", MAIN),
    KeyBinding("money", "m", "money", "Money", "what the account made, by day and symbol", "Money", SCREENS, True),
    KeyBinding(
        "period_before", "left_square_bracket", "period(-1)", "Shorter", "a shorter period", "Money", MONEY, True
    ),
    KeyBinding("period_after", "right_square_bracket", "period(1)", "Longer", "a longer period", "Money", MONEY),
    KeyBinding("group", "b", "group", "Group", "results by symbol, by day or by coin", "Money", MONEY, True),
    KeyBinding("chart", "v", "chart", "Chart", "equity, or the result by day", "Money", MONEY, True),
    KeyBinding("trips", "t", "trips", "Trips", "round trips, from flat to flat", "Money", MONEY, True),
    KeyBinding("month_before", "left_curly_bracket", "month(-1)", "Month before", "on the calendar", "Money", MONEY),
    KeyBinding("month_after", "right_curly_bracket", "month(1)", "Month after", "on the calendar", "Money", MONEY),
    KeyBinding("alerts", "A", "alerts", "Alerts", "your alerts, and those that fired", "View", SCREENS, True),
    KeyBinding(
        "test_alert", "t", "test_alert", "Test", "send a test everywhere this alert goes", "View", ("alerts",), True
    ),
    KeyBinding("silence", "x", "silence", "Silence", "this alert, or let it sound again", "View", ("alerts",), True),
    KeyBinding("new_alert", "n", "new_alert", "New alert", "make an alert", "View", ("alerts",), True),
    KeyBinding(
        "delete_alert",
        "d,delete",
        "delete_alert",
        "Delete",
        "this alert, if it was made here",
        "View",
        ("alerts",),
        True,
    ),
    KeyBinding("position_alert", "a", "position_alert", "Alert", "make an alert about this symbol", "View", MAIN),
    KeyBinding("product", "p", "product", "Product", "one product type, the next, or all", "View", MAIN, True),
    KeyBinding("profile", "P", "profile", "Profile", "pick another account", "View"),
    KeyBinding("poll_now", "u", "poll_now", "Read now", "read this panel again at once", "View", POLLED),
    KeyBinding("pause", "space", "pause", "Pause", "stop painting; reading goes on", "View", MAIN, True),
    KeyBinding("zone", "T", "zone", "UTC/local", "times in UTC or in local time", "View", KEYED),
    KeyBinding("reverse", "R", "reverse", "Reverse", "the position under the cursor", "Trading", MAIN, True),
    KeyBinding("journal", "J", "journal", "Journal", "what was sent, and its outcome", "Trading", SCREENS),
    KeyBinding("release", "x", "release", "Release", "free a symbol whose outcome is unknown", "Trading", ("journal",)),
    KeyBinding("lock", "L", "lock", "Lock", "lock trading at once; unlocking asks", "Trading", MAIN, True),
    KeyBinding(
        "lock_at_once",
        "f9",
        "lock_at_once",
        "Lock at once",
        "on every screen, in dialogs too",
        "Trading",
        EVERYWHERE,
        in_dialogs=True,
    ),
    KeyBinding("create", "N", "create", "Create", "sub-accounts and API keys; those you created", "Account", SCREENS),
)
BINDING_OF_ID: Final = {binding.id: binding for binding in BINDINGS}

MONITOR_MODE: Final = "monitor mode: nothing can be sent"
REASONS: Final[Mapping[str, str]] = {
    "detail": "no row under the cursor",
    "copy_cell": "no row under the cursor",
    "copy_row": "no row under the cursor",
    "sort_reverse": "no column is sorted",
    "sort_undo": "there is no change of order to undo",
    "columns": "the columns of these rows are fixed",
    "export": "there are no rows",
    "money": "still starting",
    "rows": "no fills stand behind this",
    "trips": "the account is not known yet",
    "dates": "only fills, stops and their history have dates to choose",
    "history": "only fills and stops have a history: focus one of them",
    "view": "this panel has one view",
    "alerts": "still starting",
    "test_alert": "put the cursor on an alert of the list first",
    "silence": "put the cursor on an alert of the list first",
    "new_alert": "still starting",
    "delete_alert": "only an alert that was made on the screen; the others stand in the configuration",
    "position_alert": "still starting",
    "product": "the profile shows one product type",
    "profile": "there is one profile",
    "poll_now": "still starting",
    TableName.TRANSFERS: "only for a broker's main account",
    TableName.EMAIL: "only for a broker's main account",
    "read_all": "every row is loaded, or as many as fit",
    "reverse": MONITOR_MODE,
    "journal": "monitor mode opens no journal; `tradetui journal` lists the account's",
    "release": "only an intent whose outcome is unknown or was corrected can be released",
    "lock": "monitor mode: there is nothing to lock",
    "lock_at_once": "monitor mode: there is nothing to lock",
    "create": "nothing can be created: the profile does not set account_admin",
}
"""Why a binding may be disabled, by id, for bindings with a single reason."""
GROUPS: Final = ("Anywhere", "Panels", "Records", "Rows", "View", "Money", "Trading", "Account")
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


def key_table(changed: Mapping[str, str] | None = None) -> list[KeyRow]:
    """Every binding as a row; `changed` are the profile's own keys in force, by id."""
    own = changed or {}
    return [
        KeyRow(
            binding.id,
            shown_keys(own.get(binding.id, binding.keys)),
            f"{binding.description}: {binding.tooltip}",
            binding.group,
            REASONS.get(binding.id, ""),
        )
        for binding in BINDINGS
    ]


def bindings_named(*ids: str) -> list[KeyBinding]:
    return [BINDING_OF_ID[id_] for id_ in ids]


def bound_keys(id_: str, changed_keys: Mapping[str, str]) -> list[str]:
    """The keys of a binding by Textual's names; `changed_keys` are the profile's, by id."""
    return [key.strip() for key in (changed_keys.get(id_) or BINDING_OF_ID[id_].keys).split(",")]


def key_named(id_: str, changed_keys: Mapping[str, str]) -> str:
    """The first key of a binding as a person writes it, for a sentence; `changed_keys` are the profile's."""
    return shown_keys(bound_keys(id_, changed_keys)[0])


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
