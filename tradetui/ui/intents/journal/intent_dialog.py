"""One intent from the journal: what was requested, what came back, what was held, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.intents.reversal.tables.table_rows import line
from tradetui.wire.text.json_text import dump_json
from tradetui.wire.unix_time import utc_moment

if TYPE_CHECKING:
    from tradetui.desk.intents.states import Event, Intent


_NAMES: Final[Mapping[str, str]] = {
    "before": "held before",
    "after": "expected",
    "mode": "position mode",
    "newest_fill": "newest fill",
    "recent_fills": "fills known",
    "code": "error code",
    "effect": "by this alone",
    "came_true": "result",
    "inferred": "only inferred",
    "final": "over",
    "proven": "held is proven",
    "stamp_ms": "request dated",
    "vault": "keys saved as",
    "kept": "keys saved in",
    "next": "what to do",
    "rows": "created",
}
"""What the screen calls the details of a step; the others are called what the journal calls them."""
_POSITION_MODES: Final[Mapping[str, str]] = {"hedge_mode": "hedge", "one_way_mode": "one-way"}
_WRITTEN: Final[Mapping[bool | None, str]] = {True: "yes", False: "no", None: UNKNOWN}


class IntentDialog(DimmingScreen[None]):
    """Everything the journal knows of one intent; secrets stand in it as `***` and nowhere else."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, intent: Intent, zone: tzinfo) -> None:
        super().__init__(classes="dialog -tall")
        self._intent = intent
        self._zone = zone

    def compose(self) -> ComposeResult:
        with self.framed(f"Intent {self._intent.id}", "↑ ↓ scroll · Esc back"), VerticalScroll():
            yield Static(Content("\n").join(intent_lines(self._intent, self._zone)), markup=False)


def intent_lines(intent: Intent, zone: tzinfo) -> Iterator[Content]:
    """The intent line by line: what it was, then each step with its time and what was told in it."""
    yield line("what", intent.title, "bold")
    yield line("state", str(intent.state), "bold $accent")
    yield line("kind", intent.kind)
    yield line("locks", intent.scope.replace("|", " "))
    yield line("account", intent.account)
    for event in intent.events:
        yield Content("")
        yield from _event_lines(event, zone)


def _event_lines(event: Event, zone: tzinfo) -> Iterator[Content]:
    yield line(str(event.state), _moment(event.at_ms, zone), "bold")
    for name, value in event.details.items():
        if name != "title":
            yield from _value_lines(name, _moment(value, zone) if name == "stamp_ms" else value)


def _moment(at_ms: int, zone: tzinfo) -> str:
    return f"{utc_moment(at_ms).astimezone(zone):%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}"


def _value_lines(name: str, value: Any) -> Iterator[Content]:
    if isinstance(value, Mapping) and name in ("request", "reply"):
        yield line(f"  {name}", "")
        for field, element in value.items():
            yield line(f"    {field}", _text(element))
        return
    shown = _POSITION_MODES.get(value, value) if name == "mode" else _text(value)
    yield line(f"  {_NAMES.get(name, name)}", shown)


def _text(value: Any) -> str:
    """A value of an event without brackets and quotes: its fields and elements with commas between."""
    if isinstance(value, Mapping):
        return ", ".join(f"{field} {_text(element)}" for field, element in value.items())
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if value is None or isinstance(value, bool):
        return _WRITTEN[value]
    return value if isinstance(value, str) else dump_json(value)
