"""How the tmux around the terminal is set: what it passes on, and how long it waits after Esc."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Final

from tradetui.ui.alerts.desktop_notification import in_tmux

_TMUX_S: Final = 3.0
_UNNOTICED_MS: Final = 50
"""Nobody presses Esc and another key so quickly one after the other."""


def ask_tmux(*arguments: str) -> str | None:
    """What a command of tmux prints; None where it fails."""
    try:
        done = subprocess.run(("tmux", *arguments), capture_output=True, text=True, timeout=_TMUX_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def escape_note(environ: Mapping[str, str]) -> str:
    """That tmux takes Esc and the key after it for one, as older versions do for half a second; else empty."""
    wait_ms = ask_tmux("show-options", "-sv", "escape-time") if in_tmux(environ) else None
    if wait_ms is None or not wait_ms.isdecimal() or int(wait_ms) <= _UNNOTICED_MS:
        return ""
    return (
        f"tmux waits {wait_ms} ms after Esc, and a key pressed meanwhile loses the Esc: "
        "`set -sg escape-time 10` in tmux.conf shortens that"
    )
