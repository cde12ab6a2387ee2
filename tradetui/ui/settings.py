"""How the screen is set up; light enough that the first paint waits for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tradetui.ui.preferences import ScreenPreferences
from tradetui.ui.tty.abilities import TerminalAbilities

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk


@dataclass(frozen=True)
class ProfileChoice:
    """A profile to switch to: its name in the picker, and what builds its desk (called in a thread)."""

    name: str
    open_desk: Callable[[], Desk]


@dataclass(frozen=True)
class UiSettings:
    """The badges to begin with, the profiles there are, and the person's own preferences.

    `theme` is the one the profile names, None where it names none.
    """

    environment: str
    access: str
    profiles: Sequence[ProfileChoice]
    chosen: int = 0
    theme: str | None = None
    terminal: TerminalAbilities = field(default_factory=TerminalAbilities)
    timezone: str = "utc"
    exact_figures: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    bell: bool = True
    inline_start: bool = False
    preferences: ScreenPreferences = field(default_factory=ScreenPreferences)
    keep: Callable[[ScreenPreferences], None] | None = None
    """Writes what was chosen on the screen; blocks, so it is called in a thread."""
    notice: str = ""
    """What is to be said once, at the start."""
