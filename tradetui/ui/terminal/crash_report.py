"""The report of a crash, without message and variables, and Textual's debug log switched off: both may hold secrets."""

from __future__ import annotations

import os
import traceback
from typing import Final

from textual import constants

FRAMES: Final = 8
_WRITES_KEYS: Final = frozenset({"debug", "devtools"})
"""Features of Textual, named in the variable TEXTUAL, that hand every event to a log or to another program."""


def silence_textual_log() -> None:
    """Switch off TEXTUAL_LOG, TEXTUAL_DEBUG (which writes `keys.log`) and the debug features of TEXTUAL.

    Call it before an application is made: an application reads TEXTUAL once.
    """
    for name in ("TEXTUAL_LOG", "TEXTUAL_DEBUG"):
        os.environ.pop(name, None)
    features = [feature.strip().lower() for feature in os.environ.get("TEXTUAL", "").split(",")]
    if _WRITES_KEYS & set(features):
        os.environ["TEXTUAL"] = ",".join(feature for feature in features if feature not in _WRITES_KEYS)
    # Textual reads these from the environment at its import, which is too early to prevent.
    constants.LOG_FILE = None  # type: ignore[misc]
    constants.DEBUG = False  # type: ignore[misc]


def crash_report(error: BaseException) -> str:
    """Return the error's type and its last stack frames, innermost last; no message and no local variable."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"  {_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n".join((f"internal error, {type(error).__name__}; the screen was closed. It came through", *places))


def _short(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    for root in ("tradetui", "site-packages"):
        if root in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(root) :])
    return parts[-1]
