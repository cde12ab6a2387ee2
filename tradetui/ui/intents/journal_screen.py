"""The journal on the screen: everything the account was asked to do, with its outcome, and the deliberate release.

An intent is a reversal or a creation; the journal has each step of it. Enter shows all steps of one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final

from textual import on
from textual.content import Content

from tradetui.desk.intents.states import ENDED, Intent, State, scope_name
from tradetui.desk.tables.cells.column import Column, Tone, ranked, time_column
from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.time_format import exact_moment_text
from tradetui.ui.app_protocols import ask_in_dialog
from tradetui.ui.dialogs.question_dialogs import LinesDialog
from tradetui.ui.intents.journal_dialogs import CAUTION, DOUBT_CAUTION, ReleaseDialog, show_release
from tradetui.ui.intents.reversal.tables.table_rows import line
from tradetui.ui.key_bindings.binding_registry import BINDINGS
from tradetui.ui.safe_text import notify, sanitized
from tradetui.ui.settings.time_zones import zone_label
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, nothing_matches
from tradetui.ui.table.table_screen import RecordsScreen
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.json_text import dump_json
from tradetui.wire.text import shown_of

if TYPE_CHECKING:
    from tradetui.ui.settings.ui_settings import UiSettings


def _end_of(intent: Intent) -> str:
    return intent.end or UNKNOWN


def _tone_of(intent: Intent) -> Tone:
    if intent.state is State.SETTLED:
        return Tone.PLAIN
    return Tone.MUTED if intent.state in ENDED else Tone.WARN


_COLUMNS: Final[tuple[Column[Intent], ...]] = ranked(
    time_column("at", "Written", lambda row: utc_moment(row.events[0].at_ms), received=False),
    Column("state", "State", 12, lambda row: str(row.state), lambda row, _: str(row.state), tone=_tone_of),
    Column("title", "What", 26, lambda row: row.title, lambda row, _: row.title, sources=(("id", lambda row: row.id),)),
    Column("ended", "How it ended", 20, _end_of, lambda row, _: _end_of(row)),
    kept_longest="title,at,state,ended",
)
_DETAIL_TITLES: Final[Mapping[str, str]] = {
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
"""Titles of a step's details that differ from the journal's names."""
_POSITION_MODES: Final[Mapping[str, str]] = {"hedge_mode": "hedge", "one_way_mode": "one-way"}
_WRITTEN: Final[Mapping[bool | None, str]] = {True: "yes", False: "no", None: UNKNOWN}
JOURNAL_READ_EVERY_S = 1.0
_EMPTY = "Nothing has been sent for this account from this machine.\nA reversal is written here before it is sent."


class JournalScreen(RecordsScreen[Intent]):
    """Newest first; read again every second, since other processes of the account write it too."""

    where = "journal"

    def __init__(self, settings: UiSettings) -> None:
        super().__init__(settings)
        self._table = RecordTable(_COLUMNS, id="table-journal")
        self._intents: tuple[Intent, ...] = ()
        self._generation = 0
        self._trouble = ""

    def on_mount(self) -> None:
        self.query_one(RecordsFrame).entitle(sanitized("Journal"))
        self.show_zone()
        self._show(())
        self.set_interval(JOURNAL_READ_EVERY_S, self._read_again)
        self.run_worker(self._read_again(), exit_on_error=False)

    async def _read_again(self) -> None:
        desk = self.desk
        if desk is None or desk.intents is None:
            return
        try:
            intents = tuple(await desk.intents.newest())
        except Exception as problem:
            self._trouble = str(problem)
        else:
            self._trouble = ""
            if intents != self._intents:
                self._show(intents)
        self.refresh_states()

    def _show(self, intents: tuple[Intent, ...]) -> None:
        self._intents = intents
        self._generation += 1
        self._table.set_source(MemoryRows(intents, [intent.id for intent in intents], self._generation))

    @property
    def subject(self) -> str:
        return "Journal"

    def refresh_states(self) -> None:
        shown, count = self._table.rows.count, len(self._intents)
        nothing = self._trouble or (nothing_matches(self._table, self.key_named) if count else _EMPTY)
        title = f"Journal {shown_of(shown, count)}" if count else "Journal"
        self.query_one(RecordsFrame).say(title, nothing, self._trouble)
        hints = (binding for binding in BINDINGS if binding.hint or binding.id in ("back", "release"))
        self.show_hints(hints, zone_label(self.zone))

    def possible(self) -> dict[str, bool]:
        intent = self._table.cursor.record
        releasable = intent is not None and intent.is_releasable
        return {**super().possible(), "columns": False, "release": releasable}

    @on(RecordTable.RowHighlighted)
    def _moved(self) -> None:
        self.refresh_states()

    def open_row(self, row_id: str, record: object) -> None:
        intent = next((intent for intent in self._intents if intent.id == row_id), None)
        if intent is not None:
            lines, keys = intent_lines(intent, self.zone), "↑ ↓ scroll · Esc back"
            self.app.push_screen(LinesDialog(f"Intent {intent.id}", lines, keys, is_tall=True))

    def action_release(self) -> None:
        """Ask for the reason of a release, unless it could not be released now: nobody types one in vain."""
        desk, intent = self.desk, self._table.cursor.record
        if not self.able("release") or desk is None or desk.execution is None or intent is None:
            return
        execution, creation = desk.execution, desk.creation
        if creation is not None and creation.made(intent):
            release = creation.release
        else:
            release = execution.release
            if reason := execution.reason_against_release(intent):
                notify(self.app, reason, severity="warning")
                return

        def confirmed(why: str) -> None:
            self.run_worker(self._release(release(intent.id, why)), exit_on_error=False)

        ask_in_dialog(self, self._release_dialog(intent), confirmed)

    @staticmethod
    def _release_dialog(intent: Intent) -> ReleaseDialog:
        """What a creation is to be followed by is its own caution; an intent that has ended left only a doubt."""
        next_step = intent.details.get("next")
        ends_doubt = not next_step and intent.state in ENDED
        caution = str(next_step or (DOUBT_CAUTION if ends_doubt else CAUTION))
        return ReleaseDialog(intent.title, _end_of(intent), scope_name(intent.scope), caution, ends_doubt=ends_doubt)

    async def _release(self, released: Awaitable[None]) -> None:
        await show_release(self.app, released)
        await self._read_again()


def intent_lines(intent: Intent, zone: tzinfo) -> Iterator[Content]:
    """The whole intent: its request, then each step with its time and details. Secrets appear as `***`."""
    yield line("what", intent.title, "bold")
    yield line("state", str(intent.state), "bold $primary")
    yield line("kind", intent.kind)
    yield line("locks", intent.scope.replace("|", " "))
    yield line("account", intent.account)
    for event in intent.events:
        yield Content("")
        yield line(str(event.state), _moment(event.at_ms, zone), "bold")
        for name, value in event.details.items():
            if name != "title":
                yield from _value_lines(name, _moment(value, zone) if name == "stamp_ms" else value)


def _moment(at_ms: int, zone: tzinfo) -> str:
    return exact_moment_text(utc_moment(at_ms), zone)


def _value_lines(name: str, value: Any) -> Iterator[Content]:
    if isinstance(value, Mapping) and name in ("request", "reply"):
        yield line(f"  {name}", "")
        for field, element in value.items():
            yield line(f"    {field}", _text(element))
        return
    shown = _POSITION_MODES.get(str(value), value) if name == "mode" else _text(value)
    yield line(f"  {_DETAIL_TITLES.get(name, name)}", shown)


def _text(value: Any) -> str:
    """A value of an event without brackets and quotes: its fields and elements with commas between."""
    if isinstance(value, Mapping):
        return ", ".join(f"{field} {_text(element)}" for field, element in value.items())
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if value is None or isinstance(value, bool):
        return _WRITTEN[value]
    return value if isinstance(value, str) else dump_json(value)
