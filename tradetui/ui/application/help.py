"""The help dialog: every key and its action, every figure of the header bar, and notes; typing filters the lines.

`help_lines` collects the lines for the screen that is open, and `HelpDialog` shows those that match what is typed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.ui.app_protocols import KeyedScreen
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.header.header_content import Alarm
from tradetui.ui.key_bindings.binding_registry import BINDINGS, shown_keys
from tradetui.ui.key_bindings.line_box import LineBox

_BESIDE_LINES: Final = 10  # cells of the dialog and its frame beside the lines
_NARROWEST: Final = 12  # the fewest cells of a key's description


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One line: `keys` is empty for a figure or a note, `off` is why the keys do nothing now, empty where they do."""

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
    """The help for a screen; `changed_keys` are the profile's own keys, by the binding's id."""
    lines = []
    for binding in BINDINGS:
        if not screen.hides(binding.id):
            keys = shown_keys(changed_keys.get(binding.id, binding.keys))
            off = screen.blocking_reason(binding.id) or ""
            lines.append(HelpLine(binding.group, keys, binding.description, binding.tooltip, off))
    lines += [HelpLine("Header", "", label, about) for label, about in HEADER_FIGURES]
    lines += [HelpLine("Notes", "", label, about) for label, about in NOTES]
    return lines


class HelpDialog(DimmingScreen[None]):
    """Shows lines of help under the titles of their groups, below a box in which one types to search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "back", "Clear, then close"),
        ("f1", "dismiss", "Close"),
        ("down", "scroll(1)", "Down"),
        ("up", "scroll(-1)", "Up"),
        ("pagedown", "page(1)", "Page down"),
        ("pageup", "page(-1)", "Page up"),
    ]
    AUTO_FOCUS = "Input"
    _box = getters.query_one(Input)
    _text = getters.query_one("#help", Static)
    _scroll = getters.query_one(VerticalScroll)

    def __init__(self, lines: Sequence[HelpLine]) -> None:
        super().__init__(classes="dialog -tall")
        self._lines = lines

    def compose(self) -> ComposeResult:
        with self.framed("Help", "Esc clears, then closes"):
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
    ("margin ratio", "maintenance margin by equity of the account nearest to liquidation; at 100 % it is liquidated"),
    ("exposure", "value of all positions, long and short together, as a multiple of equity"),
    ("union margin", "what the assets of a multi-asset account are worth as margin, at the exchange's rates"),
    ("available", "how much of the union margin is free"),
    ("equity+union", "the equity of accounts of one coin, and what a multi-asset account is worth as margin"),
    (Alarm.OTHER_OWNER, "the API key is not of the account that the profile names: nothing is sent"),
    (Alarm.JOURNAL_LOST, "what was sent is not known any more: nothing is sent before you accept that"),
    ("JOURNAL CANNOT BE …", "the journal of what is sent fails: nothing is sent before it takes entries again"),
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
