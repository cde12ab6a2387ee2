"""The settings of the screen; light enough that the first paint waits for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.ui.settings.preferences import ScreenPreferences
from tradetui.ui.terminal.abilities import TerminalAbilities

if TYPE_CHECKING:
    from tradetui.desk.alerts.rules import Rule
    from tradetui.desk.desk import Desk
    from tradetui.desk.settings import DeskSettings


@dataclass(frozen=True, kw_only=True)
class ProfileLook:
    """A profile's settings of the screen, the choices made in it, and the function that keeps them.

    `theme` is the one the profile names, None where it names none.
    """

    theme: str | None = None
    timezone: str = "utc"
    exact_figures: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    mouse: bool = True
    preferences: ScreenPreferences = field(default_factory=ScreenPreferences)
    keep: Callable[[ScreenPreferences], None] | None = None
    """Writes the choices made on the screen; blocks, so it is called in a thread."""
    notice: str = ""
    """A sentence to be shown once, when the profile is opened."""


class ConfigurationReload(NamedTuple):
    """The present configuration of the open profile.

    `settings` has the limits to go on with, never looser than before. `reopens` is whether the session may do less as a
    whole and is opened again. `taken` and `needs_restart` name the changes in sentences; `changed_look` are the names
    of changed settings of look and keys. `alert_rules` are the new rules.
    """

    look: ProfileLook
    settings: DeskSettings
    reopens: bool
    changed_look: frozenset[str]
    taken: tuple[str, ...]
    needs_restart: tuple[str, ...]
    alert_rules: tuple[Rule, ...]


KEY_READS_ONLY: Final = "key reads only"
"""The mode of a profile that may send, with a key from which the exchange takes no order."""


class ProfileSummary(NamedTuple):
    """One line of the list of profiles; `mode` is `trade` or `monitor`, `trouble` why it cannot be opened."""

    host: str = ""
    uid: str | None = None
    mode: str = ""
    trouble: str = ""


@dataclass(frozen=True)
class ProfileChoice:
    """A profile to switch to. Its functions block, so they are called in a thread.

    `open_desk` builds its desk, `look` reads its settings of the screen (None: the present ones), `summary` reads its
    line in the list of profiles.
    """

    name: str
    open_desk: Callable[[], Desk]
    look: Callable[[], ProfileLook] | None = None
    summary: Callable[[], ProfileSummary] = ProfileSummary
    reload: Callable[[], ConfigurationReload] | None = None
    """Reads the configuration of the open profile again; None where there is no configuration."""


@dataclass(frozen=True)
class UiSettings(ProfileLook):
    """The badges at the start, all profiles, and the open one's settings of the screen."""

    environment: str
    access: str
    profiles: Sequence[ProfileChoice]
    chosen: int = 0
    terminal: TerminalAbilities = field(default_factory=TerminalAbilities)
    inline_start: bool = False

    def with_look(self, look: ProfileLook) -> UiSettings:
        return replace(self, **{look_field.name: getattr(look, look_field.name) for look_field in fields(ProfileLook)})
