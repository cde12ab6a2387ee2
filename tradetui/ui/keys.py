"""The one registry of key bindings; help, footer, palette, `tradetui keys` and the README are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """One binding: `id` for the configuration, Textual's key names, the action it runs, and what it does in words."""

    id: str
    keys: str
    action: str
    description: str
    tooltip: str
    group: str
    hint: bool = False


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One line of the key table."""

    id: str
    keys: str
    description: str


BINDINGS: Final = (
    KeyBinding("help", "question_mark,f1", "help", "Help", "Every key and what it does", "Anywhere", True),
    KeyBinding("palette", "ctrl+p", "command_palette", "Palette", "Every action by name", "Anywhere"),
    KeyBinding("back", "escape", "back", "Back", "Close, clear the filter, leave zoom", "Anywhere"),
    KeyBinding("quit", "q", "leave", "Quit", "End the program", "Anywhere", True),
    KeyBinding("next_panel", "tab", "next_panel(1)", "Next panel", "Focus the next panel", "Panels"),
    KeyBinding("previous_panel", "shift+tab", "next_panel(-1)", "Previous panel", "Focus the one before", "Panels"),
    KeyBinding("accounts", "1", "panel('accounts')", "Accounts", "Focus the accounts", "Panels"),
    KeyBinding("positions", "2", "panel('positions')", "Positions", "Focus the positions", "Panels"),
    KeyBinding("orders", "3", "panel('orders')", "Orders", "Focus the pending orders", "Panels"),
    KeyBinding("fills", "4", "panel('fills')", "Fills", "Focus the fills", "Panels"),
    KeyBinding("triggers", "5", "panel('triggers')", "Triggers", "Focus the trigger history", "Panels"),
    KeyBinding("zoom", "z", "zoom", "Zoom", "One panel over the whole screen, and back", "Panels", True),
    KeyBinding("up", "up,k", "table('cursor_up')", "Up", "One row up", "Rows"),
    KeyBinding("down", "down,j", "table('cursor_down')", "Down", "One row down", "Rows"),
    KeyBinding("left", "left,h", "table('cursor_left')", "Left", "One column to the left", "Rows"),
    KeyBinding("right", "right,l", "table('cursor_right')", "Right", "One column to the right", "Rows"),
    KeyBinding("page_up", "pageup", "table('page_up')", "Page up", "One page up", "Rows"),
    KeyBinding("page_down", "pagedown", "table('page_down')", "Page down", "One page down", "Rows"),
    KeyBinding("first", "g,home", "table('first')", "First", "The first row", "Rows"),
    KeyBinding("last", "G,end", "table('last')", "Last", "The last row", "Rows"),
    KeyBinding("detail", "enter", "table('select')", "Detail", "Every field of the row", "Rows", True),
    KeyBinding("filter", "slash", "filter", "Filter", "Rows that match; ! turns it round", "Rows", True),
    KeyBinding("sort", "s", "sort(False)", "Sort", "By the column under the cursor; again for none", "Rows", True),
    KeyBinding("sort_reverse", "S", "sort(True)", "Sort down", "The same from the greatest down", "Rows"),
    KeyBinding("copy_cell", "y", "copy(False)", "Copy cell", "The cell under the cursor (OSC 52)", "Rows"),
    KeyBinding("copy_row", "Y", "copy(True)", "Copy row", "The row under the cursor (OSC 52)", "Rows"),
    KeyBinding("product", "p", "product", "Product", "Show one product type, or all", "View", True),
    KeyBinding("profile", "P", "profile", "Profile", "Another account", "View"),
    KeyBinding("poll_now", "u", "poll_now", "Poll", "Read this panel again now", "View"),
    KeyBinding("pause", "space", "pause", "Pause", "Stop painting; reading goes on", "View", True),
    KeyBinding("utc", "T", "zone", "UTC/local", "Times in UTC or local time", "View"),
    KeyBinding("reverse", "R", "reverse", "Reverse", "Reverse the position under the cursor", "Trading", True),
    KeyBinding("lock", "L", "lock", "Lock", "Lock trading at once; unlocking asks", "Trading", True),
)


def key_table() -> list[KeyRow]:
    """Every binding as a row, keys as a person writes them."""
    return [KeyRow(each.id, shown_keys(each.keys), f"{each.description}: {each.tooltip}") for each in BINDINGS]


def shown_keys(keys: str) -> str:
    """Keys as printed: `?` for question_mark."""
    names = {"question_mark": "?", "slash": "/", "escape": "Esc", "space": "Space", "enter": "Enter", "tab": "Tab"}
    return " ".join(names.get(key, key) for key in keys.split(","))
