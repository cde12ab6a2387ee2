"""The list of profiles: host, UID and mode of each, and which one is open, always in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len

from tradetui.ui.dialogs.choice import ChoiceDialog
from tradetui.ui.settings import ProfileSummary
from tradetui.wire.text.sanitize import scrub

UNKNOWN_UID: Final = "UID known once open"
_OPEN: Final = "open"


def profile_lines(names: Sequence[str], summaries: Sequence[ProfileSummary], open_index: int | None) -> list[str]:
    """One line for each profile, the figures of all below each other; `open_index` is None where none is open."""
    cells = [
        (
            scrub(name),
            scrub(summary.trouble or summary.host),
            "" if summary.trouble else scrub(summary.uid or UNKNOWN_UID),
            "" if summary.trouble else summary.mode,
            _OPEN if index == open_index else "",
        )
        for index, (name, summary) in enumerate(zip(names, summaries, strict=True))
    ]
    # A sentence about what is wrong may be long; the figures of the others stay beside each other all the same.
    sound = [row for row, summary in zip(cells, summaries, strict=True) if not summary.trouble]
    widths = [max((cell_len(row[column]) for row in sound), default=0) for column in range(5)]
    widths[0] = max((cell_len(row[0]) for row in cells), default=0)
    return ["  ".join(_padded(text, width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


class ProfileDialog(ChoiceDialog):
    """Returns the index of the profile that was picked, None where none was."""

    def __init__(
        self, names: Sequence[str], summaries: Sequence[ProfileSummary], chosen: int, *, is_open: bool
    ) -> None:
        """`chosen` is where the cursor begins: the profile that is open, or was to be opened."""
        super().__init__("Profiles", profile_lines(names, summaries, chosen if is_open else None), chosen)
