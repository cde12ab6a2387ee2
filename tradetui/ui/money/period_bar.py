"""The line above the panels: the periods there are, the one that is shown, and what its figures are of."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.results.period import PeriodChoice

_NAME = "MONEY"
_GAP = 3


class PeriodBar(Widget):
    """Periods by name; a click chooses one."""

    class Chosen(Message):
        """A period was clicked."""

        def __init__(self, choice: PeriodChoice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, *, has_utf8: bool) -> None:
        super().__init__(id="money-period")
        self._around = ("▐", "▌") if has_utf8 else ("[", "]")
        self._choice: PeriodChoice | None = None
        self._sentences: tuple[str, ...] = ("",)

    def show(self, choice: PeriodChoice | None, sentences: tuple[str, ...]) -> None:
        """Show a period as chosen, None for dates of one's own, with the first of the sentences that fits."""
        if (choice, sentences) != (self._choice, self._sentences):
            self._choice, self._sentences = choice, sentences
            self.refresh()

    def render(self) -> Content:
        parts: list[Content] = [Content.styled(f"{_NAME}  ", "bold $primary")]
        for choice in PeriodChoice:
            if choice is self._choice:
                begin, end = self._around
                chosen = (str(choice), "reverse bold $primary")
                parts.append(Content.assemble((begin, "$primary"), chosen, (end, "$primary")))
            else:
                parts.append(Content.styled(f" {choice} ", "$foreground"))
        left = Content(" ").join(parts)
        room = self.content_size.width - left.cell_length - _GAP
        sentence = next((sentence for sentence in self._sentences if len(sentence) <= room), self._sentences[-1])
        return Content.assemble(left, " " * _GAP, (sentence, "$quiet")).truncate(self.content_size.width, ellipsis=True)

    def on_click(self, event: events.Click) -> None:
        end = self.styles.padding.left + len(_NAME) + 3
        for choice in PeriodChoice:
            end += len(choice) + 3
            if event.x < end:
                self.post_message(self.Chosen(choice))
                return
