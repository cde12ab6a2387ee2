"""The box for the size of a part of the position."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from textual.widgets import Input

_PLACEHOLDER = "size: the whole position; type a number and Enter for a part of it"


class SizeBox(Input):
    """Nothing typed is the whole position."""

    def __init__(self) -> None:
        # What is typed at a button begins the text: it must not be selected, and so replaced, by the focus.
        super().__init__(id="size", placeholder=_PLACEHOLDER, select_on_focus=False, disabled=True)

    @property
    def amount(self) -> Decimal | None:
        """The size that was typed, above zero; None where nothing or no size was."""
        try:
            amount = Decimal(self.value.strip())
        except InvalidOperation:
            return None
        return amount if amount.is_finite() and amount > 0 else None

    @property
    def is_wrong(self) -> bool:
        """Whether something was typed that is no size."""
        return bool(self.value.strip()) and self.amount is None

    def problem(self, planned: Decimal | None) -> str:
        """Why what was typed is not the size that was planned with; empty where it is."""
        if self.is_wrong:
            return f"{self.value.strip()} is no size: give a number above zero, or nothing for the whole position."
        return "" if self.amount == planned else "Enter takes the size."
