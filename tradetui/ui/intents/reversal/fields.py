"""The rows with inputs: the size of a part of the position, and the word that confirms."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from textual import getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.pretrade_checks import is_typed, typing_reason
from tradetui.desk.reversal.preview import Preview
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import sanitized
from tradetui.wire.text.decimal_text import typed_number

_LONGEST_REPEATED: Final = 40
"""Characters of a wrong text that are repeated in a sentence."""


class SizeBox(LineBox):
    """An empty box means the whole position."""

    def __init__(self) -> None:
        # What is typed at a button begins the text: it must not be selected, and so replaced, by the focus.
        super().__init__(id="size", placeholder="all of it", select_on_focus=False, disabled=True)

    @property
    def amount(self) -> Decimal | None:
        """The typed size, above zero; None for none or an invalid one."""
        amount = typed_number(self.value)
        return amount if amount is not None and amount > 0 else None

    @property
    def is_wrong(self) -> bool:
        return bool(self.value.strip()) and self.amount is None

    def problem(self, planned: Decimal | None) -> str:
        """Why the text is not the planned size; empty where it is."""
        if self.is_wrong:
            typed = self.value.strip()
            typed = typed if len(typed) <= _LONGEST_REPEATED else f"{typed[: _LONGEST_REPEATED - 1]}…"
            return f"{typed} is not a size: give a number above zero without commas, or nothing for all."
        return "" if self.amount == planned else "Enter applies the size."


def _row(row_id: str, label: str, box: Input, hint: str) -> Horizontal:
    before = Static(sanitized(label), classes="label", markup=False)
    behind = Static(sanitized(hint), classes="hint", markup=False)
    return Horizontal(before, box, behind, id=row_id, classes="field-row")


class Fields(Vertical):
    """Both rows, and whether their required texts are complete.

    They are shown only where something may be typed, the word's only where one is required.
    """

    size_box = getters.query_one(SizeBox)
    word_box = getters.query_one("#typed", Input)
    _size_row = getters.query_one("#size-row", Horizontal)
    _word_row = getters.query_one("#word-row", Horizontal)

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution = execution
        self._preview: Preview | None = None

    def compose(self) -> ComposeResult:
        yield _row("size-row", "Size", SizeBox(), "a number for a part")
        yield _row("word-row", "", LineBox(id="typed", select_on_focus=False, disabled=True), "")

    @property
    def must_type(self) -> bool:
        return bool(self._why_typed)

    @property
    def word_is_missing(self) -> bool:
        return self._preview is not None and self.must_type and not is_typed(self._preview.subject, self.word)

    @property
    def word(self) -> str:
        return self.word_box.value

    @property
    def _why_typed(self) -> str:
        return "" if self._preview is None else typing_reason(self._preview, self._execution.settings)

    def ask_for(self, preview: Preview | None) -> None:
        """Set up the fields of this preview: the whole position's size, the required word, and its reason."""
        self._preview = preview
        if preview is None:
            return
        if preview.plan is not None and preview.estimates is not None:
            self.size_box.placeholder = (
                f"all, {preview.plan.size_text(preview.plan.held_size)} {preview.estimates.base_coin}"
            )
        self._word_row.query_one(".label", Static).update(sanitized(f"Type {preview.subject}"))
        self._word_row.query_one(".hint", Static).update(sanitized(f"because {self._why_typed}"))

    def show(self, shown: bool) -> None:
        self.display = shown
        self._size_row.display = self.size_box.display = shown
        self._word_row.display = self.word_box.display = shown and self.must_type

    def enable(self, enabled: bool) -> None:
        self.size_box.disabled = self.word_box.disabled = not enabled
