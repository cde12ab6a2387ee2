"""The journal on the screen: every intent of the account with its outcome, and its deliberate release.

An intent is a reversal or a creation; the journal has each of its steps, and Enter shows them.

Also the dialogs that end a lock of the journal: an unknown outcome, a lost part, a failed write. A release and a loss
are accepted only after a word was typed. They only write the journal and send nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import tzinfo
from functools import partial
from typing import Any, ClassVar, Final, Generic

from textual import events, on, work
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.store_mark import OLDER_COPY
from tradetui.desk.intents.states import ENDED, Intent, State, Withheld, WrongStep, scope_name
from tradetui.desk.reversal.pretrade_checks import is_typed
from tradetui.desk.tables.cells.cell_format import UNKNOWN
from tradetui.desk.tables.cells.column import Column, Tone, ranked, time_column
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.time_format import exact_moment_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog, DeliberateDialog, LinesDialog, Result
from tradetui.ui.intents.reversal.tables.table_rows import line
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.safe_text import notify, notify_about, sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.ui.table.table_frame import RecordsFrame, nothing_matches
from tradetui.ui.table.table_screen import RecordsScreen
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.json_text import dump_json
from tradetui.wire.text import scrub, shown_of

CAUTION = (
    "The outcome is not known. Check positions, orders and fills on the exchange's site first.\n"
    "Releasing sends nothing and changes nothing at the exchange: it only ends the lock, and the journal records that "
    "you did so."
)
DOUBT_CAUTION = (
    "The fills of its order showed that positions cannot be summed from fills. Check first that fills and positions "
    "agree again on the exchange's site.\n"
    "Releasing sends nothing: positions summed from fills are trusted again, and the journal records that you did so."
)
_LOSS_CAUTION: Final = (
    "The lost entries may hold a reversal whose outcome is unknown. Nothing is sent until you confirm that you checked "
    "positions, orders and fills on the exchange's site.\n"
    "Accepting deletes nothing: a damaged file is kept under another name, its symbols are free again, and trading "
    "stays locked until {lock} unlocks it."
)
_OLDER_STORE_CAUTION: Final = (
    "That happens if a backup was restored. A reversal that another machine sent after the copy was made may be "
    "missing in it, and then its symbol is not locked. Check positions, orders and fills on the exchange's site first; "
    "until you accept the copy nothing is sent from here.\n"
    "Accepting it enters what is open here into the store again. Trading stays locked on every machine until {lock} "
    "unlocks it."
)


class WordDialog(DeliberateDialog[Result], Generic[Result]):
    """A dialog whose button is off until a word was typed; `effect` is the button's."""

    effect: ClassVar[str]
    missing_sentence: ClassVar[str] = "Still missing: {}."

    @abstractmethod
    def missing(self) -> dict[str, str]:
        """The texts still to be typed, by the id of their box."""

    def box_for_text(self, key: str) -> Input | None:
        return self.query(Input).first()

    @on(events.Mount)
    @on(events.DescendantFocus)
    @on(Input.Changed)
    def _say_missing(self) -> None:
        missing = self.missing()
        self.confirm_button.disabled = bool(missing)
        if missing:
            self.give_reason(self.missing_sentence.format("; ".join(missing.values())))
        else:
            self.say_next_step(self.effect)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Focus the missing field, else the button; never Cancel, where the next Enter would lose the typed text."""
        missing = self.missing()
        others = [box for box in missing if box != event.input.id]
        self.query_one(f"#{[*others, *missing, 'confirm'][0]}").focus()


class ReleaseDialog(WordDialog[str | None]):
    """Returns the reason, None if cancelled; `name` has to be typed. With `ends_doubt` it ends a doubt and no lock."""

    effect = "releases it"

    def __init__(self, title: str, known: str, name: str, caution: str, *, ends_doubt: bool = False) -> None:
        super().__init__(classes="dialog")
        self._lines = (title, known)
        self._locked_name = name
        self._caution = caution
        self._ends_doubt = ends_doubt

    def compose(self) -> ComposeResult:
        title, leave = "Release without an outcome", "Leave it locked"
        if self._ends_doubt:
            title, leave = "Trust positions summed from fills again", "Leave it"
        with self.framed(title):
            for line in self._lines:
                yield Static(sanitized(line), markup=False)
            yield Static(sanitized(self._caution), classes="caution", markup=False)
            # A character typed at a button begins the reason: if the focus selected it, the next would replace it.
            yield LineBox(
                id="why", placeholder="reason for the journal: what you saw at the exchange", select_on_focus=False
            )
            yield LineBox(id="typed", placeholder=f"type {self._locked_name} to release it")
            yield from self.buttons("Release", cancel=leave, ready=False)

    @property
    def _why(self) -> str:
        return self.query_one("#why", Input).value.strip()

    def missing(self) -> dict[str, str]:
        missing = {} if self._why else {"why": "a reason is needed"}
        if self.query_one("#typed", Input).value.strip().upper() != self._locked_name.upper():
            missing["typed"] = f"type {self._locked_name} to release it"
        return missing

    def confirm(self) -> None:
        self.dismiss(self._why)


async def show_release(app: App[Any], released: Awaitable[object], locked_name: str) -> bool:
    """Wait for a release and show its result; returns whether it is known to be released."""
    say = partial(notify_about, app, locked_name)
    try:
        await released
    except (Withheld, WrongStep) as refused:
        # Another process may have settled or released it meanwhile.
        say(f"Not released: {refused}", was_sent=False, severity="warning", seconds=8)
        return False
    except Exception as problem:
        # The step may be in the journal although something failed after it.
        doubt = f"It is not known whether it is released: {problem}. The journal shows it."
        say(doubt, was_sent=True, severity="error", seconds=30)
        return False
    say("Released; the journal says so.", was_sent=True)
    return True


async def ask_to_try_again(app: App[Any], intents: Intents, changed: Callable[[], None]) -> None:
    """Ask whether to try a journal again that could not be written; after that, call `changed` and show the result."""
    question = (
        f"Nothing is sent while the journal cannot be used: {intents.trouble}.\n"
        "Trying again opens it once more, checks every entry, and writes to the disk."
    )
    if not await app.push_screen_wait(ConfirmDialog("The journal cannot be used", question, "Try again")):
        return
    usable = await intents.try_again()
    changed()
    if usable:
        lock = "Trading is locked" if intents.locked else "Trading is unlocked"
        notify(app, f"The journal can be written again. {lock}.", seconds=10)
    else:
        notify(app, f"The journal cannot be used: {intents.trouble}.", severity="error", seconds=30)


class LossDialog(WordDialog[None]):
    """Cancel has the focus; the word has to be typed. Nothing changes before the button is pressed."""

    missing_sentence = "{}; Esc leaves it locked."
    heading: ClassVar[str]
    caution: ClassVar[str]
    word: ClassVar[str]
    button: ClassVar[str]
    accepted: ClassVar[str]

    def __init__(self, intents: Intents) -> None:
        super().__init__(classes="dialog")
        self._intents = intents

    @abstractmethod
    def sentences(self) -> Iterator[str]:
        """What is lost."""

    @abstractmethod
    async def accept(self) -> str:
        """Go on without it; return why that fails, empty if it does not."""

    def compose(self) -> ComposeResult:
        with self.framed(self.heading):
            for sentence in self.sentences():
                yield Static(sanitized(sentence), markup=False)
            caution = self.caution.format(lock=trading_app(self).key_named(Action.LOCK))
            yield Static(sanitized(caution), classes="caution", markup=False)
            yield LineBox(id="typed", placeholder=f"type {self.word} to go on", select_on_focus=False)
            yield from self.buttons(self.button, cancel="Leave it locked", ready=False)

    def missing(self) -> dict[str, str]:
        is_whole = is_typed(self.word, self.query_one("#typed", Input).value)
        return {} if is_whole else {"typed": f"Type {self.word} to go on"}

    def confirm(self) -> None:
        if not self.missing():
            self.confirm_button.disabled = True
            self.run_worker(self._accept(), exit_on_error=False)

    async def _accept(self) -> None:
        try:
            trouble = await self.accept()
        except Exception as problem:
            trouble = f"It is not accepted: {problem}"
        if trouble:
            self.give_reason(Content.styled(scrub(trouble), "bold $warn"))
            return
        unlocks = f"Trading stays locked until you press {trading_app(self).key_named(Action.LOCK)}."
        shared = self._intents.shared
        others = () if shared is None else shared.locks_of_others
        notify(self.app, " ".join((self.accepted, unlocks, *map(str, others))), seconds=10)
        self.dismiss()


class LostJournalDialog(LossDialog):
    heading = "The journal is lost or damaged"
    caution = _LOSS_CAUTION
    word = "ACCEPT LOSS"
    button = "Go on without the lost entries"
    effect = "accepts the loss"
    accepted = "The loss is accepted, and the journal says so."

    def sentences(self) -> Iterator[str]:
        if (loss := self._intents.loss) is not None:
            yield f"{loss.file}: {loss.reason}."
            open_scopes = ", ".join(scope.replace("|", " ") for scope in loss.locked)
            yield f"Open in it: {open_scopes}." if open_scopes else "It is not known whether anything was open in it."

    async def accept(self) -> str:
        usable = await self._intents.accept_loss()
        return "" if usable else f"The journal cannot be used: {self._intents.trouble}"


class OlderStoreDialog(LossDialog):
    heading = "The store went back in time"
    caution = _OLDER_STORE_CAUTION
    word = "ACCEPT COPY"
    button = "Go on with the older copy"
    effect = "accepts the older copy"
    accepted = "The older copy of the store is accepted, and what is open here is in it again."

    def sentences(self) -> Iterator[str]:
        if self._intents.shared is not None:
            yield OLDER_COPY.format(self._intents.shared.went_back)
        unsettled = "; ".join(self._intents.unsettled()).replace("|", " ")
        yield f"Open, as far as this machine knows: {unsettled or 'nothing'}."

    async def accept(self) -> str:
        return "" if await self._intents.accept_older_store() else self._intents.store_trouble


def _title_of(intent: Intent) -> str:
    """Return what was sent, and by whom if that was on another machine."""
    return " · ".join(filter(None, (intent.events[0].writer, intent.title)))


def _end_of(intent: Intent) -> str:
    return intent.end or UNKNOWN


def _tone_of(intent: Intent) -> Tone:
    if intent.state is State.SETTLED:
        return Tone.PLAIN
    return Tone.MUTED if intent.state in ENDED else Tone.WARN


_COLUMNS: Final[tuple[Column[Intent], ...]] = ranked(
    time_column("at", "Written", lambda row: utc_moment(row.events[0].at_ms), received=False),
    Column("state", "State", 12, lambda row: str(row.state), lambda row, _: str(row.state), tone=_tone_of),
    Column("title", "What", 26, _title_of, lambda row, _: _title_of(row), sources=(("id", lambda row: row.id),)),
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
    "attribution": "whose orders",
    "final": "over",
    "proven": "held is proven",
    "stamp_ms": "request dated",
    "vault": "keys saved as",
    "kept": "keys saved in",
    "next": "what to do",
    "rows": "created",
    "store": "number in the store",
}
"""Titles of a step's details that differ from the journal's names."""
_POSITION_MODES: Final[Mapping[str, str]] = {"hedge_mode": "hedge", "one_way_mode": "one-way"}
_WRITTEN: Final[Mapping[bool | None, str]] = {True: "yes", False: "no", None: UNKNOWN}
JOURNAL_READ_EVERY_S = 1.0
_EMPTY = "Nothing has been sent for this account from this machine.\nA reversal is written here before it is sent."


class JournalScreen(RecordsScreen[Intent]):
    """Newest first; read again every second, since other processes of the account write it too."""

    where = "journal"

    def __init__(self) -> None:
        super().__init__()
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
            intents = tuple(await desk.intents.newest_of_all())
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
        intents = None if self.desk is None else self.desk.intents
        absence = "" if intents is None or intents.shared is None else intents.shared.absence.sentence
        self.query_one(RecordsFrame).say(title, nothing, self._trouble or absence)
        hints = (action for action in Action if action.hint or action in (Action.BACK, Action.RELEASE))
        self.show_hints(hints, zone_label(self.zone))

    def reason(self, action: Action) -> str | None:
        intent = self._table.cursor.record
        if action is Action.RELEASE and (intent is None or not intent.is_releasable):
            return "only an intent whose outcome is unknown or was corrected can be released"
        return super().reason(action)

    @on(RecordTable.RowHighlighted)
    def _moved(self) -> None:
        self.refresh_states()

    def open_row(self, row_id: str, record: object) -> None:
        intent = next((intent for intent in self._intents if intent.id == row_id), None)
        if intent is not None:
            lines, keys = intent_lines(intent, self.zone), "↑ ↓ scroll · Esc back"
            self.app.push_screen(LinesDialog(f"Intent {intent.id}", lines, keys, is_tall=True))

    @work(exit_on_error=False)
    async def action_release(self) -> None:
        """Ask for the reason of a release, unless it cannot be released now: then no one types in vain."""
        desk, intent = self.desk, self._table.cursor.record
        if desk is None or desk.execution is None or intent is None:
            return
        execution, creation = desk.execution, desk.creation
        if creation is not None and creation.made(intent):
            release = creation.release
        else:
            release = execution.release
            if reason := execution.reason_against_release(intent):
                notify_about(self.app, scope_name(intent.scope), reason, was_sent=False, severity="warning")
                return

        if (why := await self.app.push_screen_wait(self._release_dialog(intent))) is not None:
            await show_release(self.app, release(intent.id, why), scope_name(intent.scope))
            await self._read_again()

    @staticmethod
    def _release_dialog(intent: Intent) -> ReleaseDialog:
        """Return the dialog; a creation's next step is its own caution, and an ended intent has left only a doubt."""
        next_step = intent.details.get("next")
        ends_doubt = not next_step and intent.state in ENDED
        caution = str(next_step or (DOUBT_CAUTION if ends_doubt else CAUTION))
        return ReleaseDialog(intent.title, _end_of(intent), scope_name(intent.scope), caution, ends_doubt=ends_doubt)


def intent_lines(intent: Intent, zone: tzinfo) -> Iterator[Content]:
    """The whole intent: its request, then each step with its time and details. Secrets appear as `***`."""
    yield line("what", intent.title, "bold")
    yield line("state", str(intent.state), "bold $primary")
    yield line("kind", intent.kind)
    yield line("locks", intent.scope.replace("|", " "))
    yield line("account", intent.account)
    for event in intent.events:
        yield Content("")
        by = f" · {event.writer}" if event.writer else ""
        yield line(str(event.state), f"{_moment(event.at_ms, zone)}{by}", "bold")
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
