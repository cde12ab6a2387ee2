"""What the trader has not read yet: why nothing was sent, what has changed since the last look, what was dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import Change, Preview, changes
from tradetui.wire.text.sanitize import scrub

DROPPED: Final = "The dialog was not ready: what you typed was dropped, type it again."
NO_FOCUS: Final = "Enter pressed nothing because nothing had the focus: look, then press it again."


@dataclass(slots=True)
class Unread:
    """It stays on the screen until `read`, however often the preview is read again meanwhile.

    `looked_at` is what was on the screen, armed, when a key was pressed last: changes are told against it.
    `not_sent` says why a confirmation was not sent; `dropped` that keys came before the dialog was ready, which stays
    until the word that is asked for is typed; `pressed_nothing` why the last Enter pressed nothing; `notice` what the
    journal has to say once.
    """

    looked_at: Preview | None = None
    not_sent: str = ""
    dropped: bool = False
    pressed_nothing: str = ""
    notice: str = ""

    def read(self, preview: Preview | None, *, word_wanted: bool) -> None:
        """A key was pressed at the armed preview; `word_wanted` is whether a word is still to be typed."""
        self.looked_at, self.not_sent, self.notice = preview, "", ""
        self.dropped = self.dropped and word_wanted

    def changed(self, preview: Preview | None) -> tuple[Change, ...]:
        """What of the preview is not as it was when the trader looked."""
        if preview is None or self.looked_at is None or preview is self.looked_at:
            return ()
        return changes(self.looked_at, preview)

    def lines(self, preview: Preview | None) -> Content:
        return Content.styled("\n".join(map(scrub, self._lines(preview))), "bold $error")

    def _lines(self, preview: Preview | None) -> Iterator[str]:
        if changed := self.changed(preview):
            sentence = f"Changed since you looked: {'; '.join(map(str, changed))}"
            yield f"NOT SENT. {sentence}" if self.not_sent else sentence
        elif self.not_sent:
            yield f"NOT SENT. {self.not_sent}"
        if self.notice:
            yield self.notice
        if self.dropped:
            yield DROPPED
        if self.pressed_nothing:
            yield self.pressed_nothing
