"""The profiles that a session on the screen can open, read from their configuration when they are opened."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tradetui.commands.session import screen_state
from tradetui.profiles.changes import SCREEN_SETTINGS, Effect, reconfigured
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, LoadedProfile, known_profiles, load
from tradetui.ui.settings.ui_settings import (
    ConfigurationReload,
    ProfileAppearance,
    ProfileChoice,
    ProfileSummary,
    preferences_from,
)

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk

_NO_SYMBOL_LEFT: Final = "symbols: this session may reverse none of them, so it only reads until a restart"


class ProfileSessions:
    """All profiles in the order of the configuration; `choices` grows when a profile is made of a key.

    `first`, the profile of the command line, is opened as read before, and read again whenever it is reopened.
    """

    def __init__(self, first: LoadedProfile, flags: Flags) -> None:
        self._first = first
        self._flags = flags
        self._to_open = {first.name: first}
        """Profiles as they were read, by name, until their desks are opened."""
        self._opened = {first.name: first}
        known = known_profiles(first.environ, flags.config).names
        names = known if first.name in known else (first.name, *known)
        self.chosen = names.index(first.name)
        self.choices: list[ProfileChoice] = []
        for name in names:
            self._add(name)

    def _add(self, name: str) -> None:
        choice = ProfileChoice(
            name,
            partial(self._open_desk, name),
            partial(self._look, name),
            partial(self._summary, name),
            partial(self._reload, name),
        )
        self.choices.append(choice)

    def _load(self, name: str) -> LoadedProfile:
        """Raises ConfigurationError or NoProfile."""
        if name != self._first.name:
            return load(self._first.environ, replace(self._flags, profile=name, base_url=None))
        # Another default in the file since the start does not make it another profile.
        flags = self._flags if self._first.file is None else replace(self._flags, profile=name)
        return load(self._first.environ, flags)

    def _look(self, name: str) -> ProfileAppearance:
        if name not in self._to_open:
            self._to_open[name] = self._load(name)
        return appearance_of(self._to_open[name])

    def _open_desk(self, name: str) -> Desk:
        from tradetui.commands.session.bootstrap import close_data_dir, open_desk

        loaded = self._to_open.pop(name, None) or self._load(name)
        if loaded is not self._first:
            close_data_dir(loaded)
        self._opened[name] = loaded
        return open_desk(loaded, self._flags, self._add)

    def _reload(self, name: str) -> ConfigurationReload:
        """Read the configuration of the open profile; raises ConfigurationError."""
        from tradetui.commands.session.bootstrap import desk_settings, profile_rules

        opened, configured = self._opened[name], self._load(name)
        after = reconfigured(opened.profile, configured.profile)
        read_only = opened.read_only or configured.read_only or after.profile.mode == "monitor"
        effective = replace(opened, profile=after.profile, read_only=read_only)
        reopens = (read_only, after.profile.account_admin) != (opened.read_only, opened.profile.account_admin)
        self._opened[name] = effective
        if reopens:
            self._to_open[name] = effective
        waiting = tuple(change for change in after.changes if change.effect is Effect.RESTART)
        taken = tuple(str(change) for change in after.changes if change not in waiting)
        return ConfigurationReload(
            appearance=appearance_of(effective),
            settings=desk_settings(effective),
            reopens=reopens,
            changed_appearance=SCREEN_SETTINGS & {change.key for change in after.changes},
            taken=(*taken, _NO_SYMBOL_LEFT) if after.no_symbol_left else taken,
            needs_restart=tuple(map(str, waiting)),
            alert_rules=profile_rules(after.profile),
        )

    def _summary(self, name: str) -> ProfileSummary:
        try:
            loaded = self._load(name)
        except ConfigurationError as problem:
            return ProfileSummary(trouble=str(problem))
        mode = "monitor" if loaded.read_only else "trade"
        return ProfileSummary(urlsplit(loaded.profile.base_url).netloc, _known_uid(loaded), mode)


def appearance_of(loaded: LoadedProfile) -> ProfileAppearance:
    """A profile's settings of the screen, with the choices made in it before."""
    profile = loaded.profile
    stored, notice = screen_state.read_screen_state(loaded.data_dir, loaded.name)
    return ProfileAppearance(
        theme=profile.theme if "theme" in profile.model_fields_set else None,
        timezone=profile.timezone,
        exact_figures=profile.figures == "exact",
        keys=profile.keys,
        mouse=profile.mouse,
        preferences=preferences_from(stored),
        keep=lambda preferences: screen_state.write_screen_state(
            loaded.data_dir, loaded.name, {"theme": None, "tables": None} | preferences.as_plain()
        ),
        notice=notice,
    )


def _known_uid(loaded: LoadedProfile) -> str | None:
    """The UID as the profile or an earlier session knows it; a list of profiles asks no program or keyring."""
    if loaded.profile.uid is not None or loaded.profile.credentials.source not in ("file", "environment"):
        return loaded.profile.uid
    from tradetui.commands.session.bootstrap import account_key, credentials_of
    from tradetui.desk.account.identity import KnownAccounts
    from tradetui.storage.sqlite_file import FileUnusable

    try:
        return KnownAccounts(loaded.data_dir).uid_of(account_key(loaded, credentials_of(loaded)))
    except (ConfigurationError, FileUnusable):
        return None  # What is wrong is said when the profile is opened.
