"""The settings of a desk's alerts, from a profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tradetui.commands.session.screen_state import read_screen_state, write_screen_state
from tradetui.desk.alerts.rules import DEFAULT_RULES, AlertSettings, DesktopSequence, Rule
from tradetui.desk.alerts.user_program import ProgramCommand
from tradetui.exchange.credentials import Credentials
from tradetui.profiles.load import LoadedProfile
from tradetui.profiles.model import Profile

_SILENCED: Final = "silenced"
_OWN_PREFIX = "TRADETUI_"
_CREDENTIAL_ENDINGS = ("_API_KEY", "_API_SECRET", "_PASSPHRASE")


class FileSilences:
    """The silenced alerts of one profile, kept in its screen state."""

    def __init__(self, data_dir: Path, profile: str) -> None:
        self._data_dir = data_dir
        self._profile = profile

    def read(self) -> frozenset[str]:
        names = read_screen_state(self._data_dir, self._profile)[0].get(_SILENCED)
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    def write(self, names: frozenset[str]) -> None:
        """Raises OSError."""
        write_screen_state(self._data_dir, self._profile, {_SILENCED: sorted(names) or None})


def profile_rules(profile: Profile) -> tuple[Rule, ...]:
    return DEFAULT_RULES if profile.alerts is None else tuple(alert.rule for alert in profile.alerts)


def alert_settings(loaded: LoadedProfile, environment: str, credentials: Credentials) -> AlertSettings:
    """Rules, silences and the command of a profile; no variable that holds a secret reaches the command."""
    profile = loaded.profile
    command = None
    if profile.alert_command:
        environ = environment_without_secrets(loaded.environ, profile.credentials.prefix, credentials)
        command = ProgramCommand(profile.alert_command, environ)
    desktop = profile.desktop_notification
    return AlertSettings(
        rules=profile_rules(profile),
        silences=FileSilences(loaded.data_dir, loaded.name),
        command=command,
        commands_a_minute=profile.alert_commands_a_minute,
        desktop_sequence=None if desktop == "auto" else DesktopSequence(desktop),
        profile=loaded.name,
        environment=environment,
    )


def environment_without_secrets(environ: Mapping[str, str], prefix: str, credentials: Credentials) -> dict[str, str]:
    """The variables without our own, those of a key, and any that holds a part of the key."""
    own_names = {f"{prefix}{ending}" for ending in _CREDENTIAL_ENDINGS}
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(_OWN_PREFIX) and name not in own_names and credentials.masked(value) == value
    }
