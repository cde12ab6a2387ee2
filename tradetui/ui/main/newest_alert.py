"""The line above the keys that says the newest alert."""

from __future__ import annotations

from textual.widgets import Static

from tradetui.ui.sanitize import sanitized


class NewestAlert(Static):
    """One line, cut with an ellipsis where it is too long; not there while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(id="newest-alert", markup=False)
        self._sentence = ""

    def show(self, sentence: str) -> None:
        """Say this; the line goes where the sentence is empty."""
        if sentence == self._sentence:
            return
        self._sentence = sentence
        self.update(sanitized(sentence))
        self.display = bool(sentence)
