"""Settings of a profile's alerts: its rules, the store of silenced rules, and the program that alerts are sent to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tradetui.desk.alerts.command import Command
from tradetui.desk.alerts.rules import DEFAULT_RULES, DesktopSequence, Rule


class Silences(Protocol):
    """A store of the names of silenced rules; both calls block and belong on the disk's thread."""

    def read(self) -> frozenset[str]:
        """The names; none where they cannot be read."""

    def write(self, names: frozenset[str]) -> None:
        """Keep other names; raises OSError."""


class MemorySilences:
    """Silences that end with the session."""

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        return self._names

    def write(self, names: frozenset[str]) -> None:
        self._names = names


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """The rules of a profile, where their silences are kept, and the program that alerts are handed to.

    `desktop_sequence` is None where it depends on the terminal. `profile` and `environment` tell a command whose alert
    it is.
    """

    rules: tuple[Rule, ...] = DEFAULT_RULES
    silences: Silences = field(default_factory=MemorySilences)
    command: Command | None = None
    commands_a_minute: int = 10
    desktop_sequence: DesktopSequence | None = None
    profile: str = ""
    environment: str = ""
