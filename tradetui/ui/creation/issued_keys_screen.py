"""The keys given out to this account, from this session and all before it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static

from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.key_store import KeyStoreUnusable
from tradetui.ui.creation.issued_keys import GivenKeys, GivenKeysDialog
from tradetui.ui.creation.titles import BREAKPOINTS
from tradetui.ui.sanitize import sanitized


class GivenKeysScreen(GivenKeysDialog):
    """Opens at once and fills in."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "Close")]
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, creation: Creation) -> None:
        super().__init__(classes="dialog -creating")
        self._creation = creation

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Keys given out"
            box.border_subtitle = "Esc closes"
            yield Static(sanitized("reading …"), id="said", markup=False)

    async def on_mount(self) -> None:
        """Read the key store."""
        message_line = self.query_one("#said", Static)
        try:
            entries = await self._creation.entries()
        except KeyStoreUnusable as problem:
            message_line.update(sanitized(problem))
            return
        message_line.display = False
        await self.query_one(Vertical).mount(GivenKeys(self._creation, entries))
        self.query_one(OptionList).focus()
