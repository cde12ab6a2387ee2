"""Why a journal that is not lost cannot be used for now, and what the trader does about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class JournalFault(StrEnum):
    """What fails. Nothing is sent until the trader has the journal tried again, and it takes entries."""

    UNREADABLE = "cannot be read"
    UNWRITABLE = "cannot be written"
    UNUSABLE = "cannot be used"


TRY_AGAIN: Final = "then try again: L on the main screen"
_REMEDIES: Final = {
    JournalFault.UNREADABLE: "Check the disk",
    JournalFault.UNWRITABLE: "Check the disk's free space and the data directory",
    JournalFault.UNUSABLE: "Check the data directory",
}


def fault_sentence(fault: JournalFault, problem: Exception) -> str:
    """What fails, why, and the remedy, to stand after "the journal cannot be used:"."""
    return f"it {fault} ({problem}). {_REMEDIES[fault]}, {TRY_AGAIN}"
