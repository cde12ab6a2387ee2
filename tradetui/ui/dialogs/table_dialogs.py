"""The dialogs that choose a table's columns, its sort column, and the dates and symbols of its rows.

Also the dialog that writes a table's rows to a file of a chosen format.
"""

from __future__ import annotations

import asyncio
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Never

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from tradetui.desk.desk import Desk
from tradetui.desk.parameter_form import FormField
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.export import Format, RowsMissing, default_name, save_rows
from tradetui.desk.tables.rows.date_filter import DATE_FIELDS, FROM, SYMBOL, TO, DateFilter, read_date_filter
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering, Sort
from tradetui.desk.tables.time_zones import zone_label
from tradetui.trading.results.periods import day_at
from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog, ListDialog
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.key_bindings.actions import shown_keys
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.key_bindings.profile_bindings import long_name
from tradetui.ui.safe_text import sanitized
from tradetui.ui.settings.ui_settings import NARROWEST, WIDEST, ColumnChoice, TableChoice
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import counted, scrub

_COLUMN_KEYS = "Space shows, hides · Shift+↑↓ moves · + - width · 0 default · Enter shows · Esc back"
ID_WIDTH = 24
MOST_LINES, AROUND_THE_LIST = 20, 9
"""The most lines of the list, and the lines of the screen, the box, the keys and the buttons around it."""
UNSORTED_KEY: Final = "0"
_MOVES_OR_CLOSES: Final = frozenset("jkq")
_HINTS: Final[Mapping[str, str]] = {
    FROM: "last week, november, 7d or 2026-11-20 15:30",
    TO: "now",
    SYMBOL: "all; or a piece of the name, such as BTC",
}
_WHOLE_DAY_HINT: Final = "yesterday, last week, november, 7d or 2026-11-20"


class ColumnsDialog(DeliberateDialog[TableChoice | None]):
    """Returns the choice, None if it was left. Shown columns come first, in their order."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "cancel", "Leave it"),
        ("space", "show_or_hide", "Show or hide"),
        ("shift+down,J", "move(1)", "Further right"),
        ("shift+up,K", "move(-1)", "Further left"),
        ("plus,right", "widen(1)", "Wider"),
        ("minus,left", "widen(-1)", "Narrower"),
        ("0", "reset", "As at first"),
        ("j", "cursor(1)", "Down"),
        ("k", "cursor(-1)", "Up"),
    ]
    AUTO_FOCUS = "OptionList"
    _list = getters.query_one(OptionList)

    def __init__(
        self, title: str, every: Sequence[Column[Never]], default: Sequence[Column[Never]], choice: TableChoice
    ) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._columns = {column.id: column for column in every}
        self._default = tuple(column.id for column in default)
        self._choice = choice
        known = [(column_id, width) for column_id, width in choice.columns or () if column_id in self._columns]
        self._widths = {column_id: width for column_id, width in known if width is not None}
        self._take([column_id for column_id, _ in known] or self._default)

    def _take(self, shown: Sequence[str]) -> None:
        self._shown = dict.fromkeys(shown)
        self._order = [*self._shown, *(column_id for column_id in self._columns if column_id not in self._shown)]

    def compose(self) -> ComposeResult:
        with self.framed(f"Columns of {self._heading.lower()}"):
            yield OptionList(*(self._option(column_id) for column_id in self._order), markup=False)
            yield Static(sanitized(_COLUMN_KEYS), classes="keys", markup=False)
            yield from self.buttons("Show these", harmless=True)

    def on_mount(self) -> None:
        self._list.highlighted = 0

    def on_resize(self, event: events.Resize) -> None:
        """Scroll the columns where they do not fit; keys and buttons stay visible."""
        self._list.styles.max_height = max(3, min(MOST_LINES, event.size.height - AROUND_THE_LIST))

    @property
    def _highlighted(self) -> int:
        return self._list.highlighted or 0

    def _option(self, column_id: str) -> Content:
        column = self._columns[column_id]
        width = self._widths.get(column_id)
        wide = f"{width} wide" if width is not None else ""
        mark, style = ("■", "") if column_id in self._shown else ("□", "dim")
        return Content.assemble(
            (f"{mark} {scrub(column.title):<18} ", style), (f"{column_id:<{ID_WIDTH}} {wide:<8} {column.unit}", "dim")
        )

    def _draw(self, highlighted: int) -> None:
        self._list.clear_options().add_options(self._option(column_id) for column_id in self._order)
        self._list.highlighted = highlighted

    def action_cursor(self, by: int) -> None:
        self._list.highlighted = max(0, min(self._highlighted + by, len(self._order) - 1))

    def action_show_or_hide(self) -> None:
        """Show a column behind the others, or hide it; one always stays."""
        column_id = self._order[self._highlighted]
        if column_id not in self._shown:
            self._take([*self._shown, column_id])
        elif len(self._shown) > 1:
            self._take([shown_id for shown_id in self._shown if shown_id != column_id])
        self._draw(self._order.index(column_id))

    def action_move(self, by: int) -> None:
        shown, before = list(self._shown), self._highlighted
        after = before + by
        if before < len(shown) and 0 <= after < len(shown):
            shown[before], shown[after] = shown[after], shown[before]
            self._take(shown)
            self._draw(after)

    def action_widen(self, by: int) -> None:
        column_id = self._order[self._highlighted]
        width = self._widths.get(column_id, self._columns[column_id].width) + by
        self._widths[column_id] = max(NARROWEST, min(width, WIDEST))
        self._draw(self._highlighted)

    def action_reset(self) -> None:
        self._widths.clear()
        self._take(self._default)
        self._draw(0)

    @on(OptionList.OptionSelected)
    def confirm(self) -> None:
        choice = tuple(ColumnChoice(column_id, self._widths.get(column_id)) for column_id in self._shown)
        default = tuple(ColumnChoice(column_id) for column_id in self._default)
        columns = None if choice == default else choice
        sort = self._choice.sort if self._choice.sort in self._shown else None
        self.dismiss(TableChoice(columns, sort, self._choice.reverse if sort else False))


def column_letters(titles: Sequence[str], taken: Collection[str]) -> list[str]:
    """A key per title: a free letter of the title, else any free letter; empty if none is left."""
    free = {letter: None for letter in string.ascii_letters if letter not in taken and letter not in _MOVES_OR_CLOSES}
    letters = []
    for title in titles:
        own_letters = [letter for letter in title.lower() if letter in free]
        letter = next(iter(own_letters or free), "")
        free.pop(letter, None)
        letters.append(letter)
    return letters


class _SortLine(NamedTuple):
    """One line of the list: a column's id, empty for unsorted, and the key that chooses it, empty for none."""

    column_id: str
    key: str
    text: str


class SortDialog(ListDialog[str | None]):
    """Returns a column's id, empty for unsorted, None if it was left.

    The key that opened it chooses the column under the cursor.
    """

    def __init__(
        self, subject: str, columns: Sequence[Column[Never]], under_cursor: str, sort: Sort | None, keys: Sequence[str]
    ) -> None:
        super().__init__(classes="dialog -small")
        self._subject = subject
        self._opening_keys = frozenset(map(long_name, keys))
        titles = {column.id: column.title for column in columns}
        this_column = f"this column, {titles[under_cursor]}"
        self._lines = [_SortLine(under_cursor, shown_keys(keys[0]), this_column)]
        letters = column_letters(list(titles.values()), {*keys, UNSORTED_KEY})
        for letter, (column, title) in zip(letters, titles.items(), strict=True):
            arrow = ("▼" if sort.reverse else "▲") if sort is not None and sort.column == column else ""
            self._lines.append(_SortLine(column, letter, f"{title} {arrow}"))
        self._lines.append(_SortLine("", UNSORTED_KEY, "unsorted"))

    def compose(self) -> ComposeResult:
        with self.framed(f"Sort {self._subject.lower()} by"):
            yield OptionList(*(sanitized(f"{line.key or ' '}  {line.text}") for line in self._lines), markup=False)
            yield Static(sanitized("The same column again turns the order round."), classes="keys", markup=False)

    def on_mount(self) -> None:
        self.option_list.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        this_column, *others = self._lines
        chosen = this_column if event.key in self._opening_keys else None
        if chosen is None and event.character:
            chosen = next((line for line in others if line.key == event.character), None)
        if chosen is not None:
            self.dismiss(chosen.column_id)
            event.stop()

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._lines[event.option_index].column_id)


class DatesDialog(ParameterForm[DateFilter | None]):
    """Returns the typed filter, an empty one for none at all, and None if it was left."""

    def __init__(self, title: str, before: DateFilter | None, now_ms: int, zone: tzinfo, whole_days: bool) -> None:
        super().__init__(classes="dialog -form")
        self._heading = title
        self._texts = {} if before is None else dict(before.texts)
        self._now_ms = now_ms
        self._zone = zone
        self._whole_days = whole_days
        self._hints = {**_HINTS, FROM: _WHOLE_DAY_HINT} if whole_days else _HINTS

    def compose(self) -> ComposeResult:
        with self.framed(f"Dates of {self._heading}", "Tab next · Enter shows · empty: all · Esc back"):
            for name in DATE_FIELDS:
                field, text = FormField(name, "", False), self._texts.get(name, "")
                yield from self.field_lines(field, name.capitalize(), text, self._hints[name])
            yield from self.buttons("Show", harmless=True)

    def _read(self) -> tuple[DateFilter | None, Mapping[str, str]]:
        return read_date_filter(self.texts, self._now_ms, self._zone, whole_days=self._whole_days)

    def check(self) -> None:
        chosen, problems = self._read()
        for name in DATE_FIELDS:
            problem = "" if self.is_typed_in(f"field-{name}") else problems.get(name, "")
            self.show_problem(f"problem-{name}", sanitized(f"{problem[:1].upper()}{problem[1:]}"))
        shown = "everything" if chosen is None else chosen.title(self._zone, day_at(self._now_ms, self._zone))
        about = f"Shows {shown}, in {zone_label(self._zone)}."
        if problems:
            about = self.to_correct(name.capitalize() for name in DATE_FIELDS if name in problems)
        self.show_result(acceptable=not problems, about=[about])

    def confirm(self) -> None:
        chosen, problems = self._read()
        if not problems:
            self.dismiss(chosen or DateFilter())


Save = Callable[[Path, Format, bool], int]


class ExportDialog(DeliberateDialog[str | None]):
    """Returns a sentence on the result; `save(path, form, replace)` returns the number of rows and runs in a thread."""

    AUTO_FOCUS = "Input"

    def __init__(self, what: str, proposed: str, save: Save) -> None:
        super().__init__(classes="dialog")
        self._what = what
        self._proposed = proposed
        self._save = save
        self._replaces: Path | None = None
        self._writing = False

    def compose(self) -> ComposeResult:
        with self.framed(f"Export {self._what}"):
            yield Static(sanitized(f"A file in {Path.cwd()}, or any other path; .csv or .json."), markup=False)
            yield LineBox(self._proposed, id="path")
            yield from self.buttons("Write", harmless=True)

    @on(Input.Changed)
    def _changed(self) -> None:
        self._replaces = None
        self.give_reason("")

    @on(Input.Submitted)
    def confirm(self) -> None:
        if self._writing:
            return
        path = Path(self.query_one(Input).value.strip()).expanduser().absolute()
        form = {".csv": Format.CSV, ".json": Format.JSON}.get(path.suffix.lower())
        if form is None:
            self.give_reason("The file's name must end in .csv or .json, which says how it is written.")
            return
        self._writing = True
        self.run_worker(self._write(path, form), exit_on_error=False)

    async def _write(self, path: Path, form: Format) -> None:
        try:
            rows = await asyncio.to_thread(self._save, path, form, path == self._replaces)
        except FileExistsError:
            self._replaces = path
            self.give_reason(f"{path} exists. Enter once more replaces it; another name keeps it.")
        except RowsMissing as problem:
            self.give_reason(f"Nothing was written: {problem}. Try again in a moment.")
        except OSError as problem:
            self.give_reason(f"Nothing was written: {path}: {problem.strerror or type(problem).__name__}.")
        except Exception as problem:
            self.give_reason(f"Nothing was written: the rows cannot be read ({type(problem).__name__}).")
        else:
            self.dismiss(f"{counted(rows, 'row')} written to {path}")
            return
        finally:
            self._writing = False


def export_dialog(
    desk: Desk | None, rows: RowSource[RowT], columns: Sequence[Column[RowT]], file_stem: str, title: str
) -> ExportDialog:
    """Return the dialog that writes these rows as they are now, without later ones."""
    if isinstance(rows, SelfOrdering):
        rows = rows.whole()
    now = datetime.now(UTC) if desk is None else utc_moment(desk.clock.wall_ms()).astimezone(desk.zone)
    account = "" if desk is None else desk.settings.name

    def save(path: Path, form: Format, replace: bool) -> int:
        return save_rows(path, rows, columns, form, replace=replace)

    return ExportDialog(title, default_name(file_stem, account, now, Format.CSV), save)
