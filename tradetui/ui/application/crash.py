"""What is said of an unforeseen error: its kind and where it happened, never a value, which may be a secret."""

from __future__ import annotations

import traceback

FRAMES = 8


def crash_report(error: BaseException) -> str:
    """The error's kind and the last places it came through, innermost last; no message and no local variable."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"  {_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n".join((f"internal error, {type(error).__name__}; the screen was closed. It came through", *places))


def _short(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    for root in ("tradetui", "site-packages"):
        if root in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(root) :])
    return parts[-1]
