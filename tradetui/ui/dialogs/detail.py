"""Every field of one row, as received."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tradetui.ui.safe import plain
from tradetui.wire.scrub import scrub


class DetailDialog(ModalScreen[None]):
    """The interface's names and the values as received; unknown fields and unreadable ones are marked."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, record: Any) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._record = record

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = plain(self._heading).plain.replace("[", "\\[")
            with VerticalScroll():
                yield Static(Content("\n").join(self._lines()), markup=False)

    def _lines(self) -> Iterable[Content]:
        record = getattr(self._record, "record", None) or self._record
        received: Mapping[str, Any] = getattr(record, "received", {})
        unreadable: Mapping[str, str] = getattr(record, "unreadable", {})
        unknown = set(getattr(record, "unknown", {}))
        source = getattr(self._record, "source", None)
        if source is not None:
            yield self._line("source", str(source), "$accent")
        product_type = getattr(self._record, "product_type", None)
        if product_type is not None:
            yield self._line("productType", str(product_type), "$accent")
        for name, value in received.items():
            note = "  cannot be read" if name in unreadable else "  not in the interface" if name in unknown else ""
            yield self._line(name, _shown(value) + note, "$warn" if note else "")
        if not received:
            for name in ("symbol", "leg", "size", "entry", "mark", "unrealised", "realised", "margin_coin"):
                yield self._line(name, _shown(getattr(self._record, name, None)), "")

    def _line(self, name: str, value: str, style: str) -> Content:
        return Content.assemble((f"{scrub(name):<26}", "bold $quiet"), (scrub(value), style))


def _shown(value: Any) -> str:
    from tradetui.wire.json_text import dump

    if value is None:
        return "null"
    return value if isinstance(value, str) and value else dump(value) if not isinstance(value, str) else '""'
