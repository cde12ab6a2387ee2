"""The dialog that writes a table's rows to a file of a chosen format."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from tradetui.desk.desk import Desk
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.export import Format, RowsMissing, default_name, save_rows
from tradetui.desk.tables.rows.row_source import RowSource, RowT, SelfOrdering
from tradetui.ui.app_protocols import ask_in_dialog
from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import notify, sanitized
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import counted

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


def open_export(
    app: App[Any], desk: Desk | None, rows: RowSource[RowT], columns: Sequence[Column[RowT]], file_stem: str, title: str
) -> None:
    """Ask for a path, and write these rows as they are now, whatever comes in later."""
    if isinstance(rows, SelfOrdering):
        rows = rows.whole()
    now = datetime.now(UTC) if desk is None else utc_moment(desk.clock.wall_ms()).astimezone(desk.zone)
    account = "" if desk is None else desk.settings.name

    def save(path: Path, form: Format, replace: bool) -> int:
        return save_rows(path, rows, columns, form, replace=replace)

    dialog = ExportDialog(title, default_name(file_stem, account, now, Format.CSV), save)
    ask_in_dialog(app, dialog, lambda sentence: notify(app, f"{sentence}.", seconds=8))
