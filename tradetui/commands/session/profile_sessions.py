"""The profiles that a session on the screen can open; their configuration is read when they are opened."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tradetui.commands.session import screen_state
from tradetui.commands.session.open_profile import OpenProfile, close_data_dir, profile_rules
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
    from collections.abc import Sequence

    from tradetui.commands.session.overview_profiles import OverviewProfiles
    from tradetui.desk.desk import Desk
    from tradetui.desk.overview.overview import Overview
    from tradetui.desk.overview.watched_account import AccountSource

_NO_SYMBOL_LEFT: Final = "symbols: this session may reverse none of them, so it only reads until a restart"


class ProfileSessions:
    """All profiles in the order of the configuration; `choices` grows when a profile is made of a key.

    `first` is the profile of the command line: it is opened as already read, and read again when reopened.
    """

    def __init__(self, first: OpenProfile, flags: Flags, shown: Sequence[str] = ()) -> None:
        """`shown` are the profiles of an overview, all if empty."""
        self._first = first.loaded
        self._shown = shown
        self._overview: OverviewProfiles | None = None
        self._flags = flags
        name = self._first.name
        self._to_open = {name: first}
        """Profiles that were read and whose desks are not opened yet, by name."""
        self._opened = {name: self._first}
        known = known_profiles(self._first.environ, flags.config).names
        names = known if name in known else (name, *known)
        self.chosen = names.index(name)
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

    def overview(self) -> Overview:
        """An overview of the profiles, not begun; raises ConfigurationError."""
        from tradetui.commands.session.overview_profiles import OverviewProfiles  # most sessions need none

        self._overview = OverviewProfiles(self._first.environ, self._flags, self._shown)
        return self._overview.overview()

    def overview_sources(self) -> Sequence[AccountSource]:
        """The profiles of the overview as configured now; new ones can be opened from then on."""
        if self._overview is None:
            return ()
        sources, known = self._overview.sources(), {choice.name for choice in self.choices}
        for source in sources:
            if source.name not in known:
                self._add(source.name)
        return sources

    def _load(self, name: str) -> LoadedProfile:
        """Read a profile; raises ConfigurationError or NoProfile."""
        if name != self._first.name:
            return load(self._first.environ, replace(self._flags, profile=name, base_url=None))
        # A change of the default profile in the file must not replace the first profile.
        flags = self._flags if self._first.file is None else replace(self._flags, profile=name)
        return load(self._first.environ, flags)

    def _look(self, name: str) -> ProfileAppearance:
        if name not in self._to_open:
            self._to_open[name] = OpenProfile(self._load(name))
        return appearance_of(self._to_open[name].loaded)

    def _open_desk(self, name: str) -> Desk:
        profile = self._to_open.pop(name, None) or OpenProfile(self._load(name))
        if profile.loaded is not self._first:
            close_data_dir(profile.loaded)
        self._opened[name] = profile.loaded
        return profile.desk(self._flags, self._add)

    def _reload(self, name: str) -> ConfigurationReload:
        """Read the configuration of the open profile again; raises ConfigurationError."""
        opened, configured = self._opened[name], self._load(name)
        after = reconfigured(opened.profile, configured.profile)
        read_only = opened.read_only or configured.read_only or after.profile.only_reads
        effective = OpenProfile(replace(opened, profile=after.profile, read_only=read_only))
        reopens = (read_only, after.profile.account_admin) != (opened.read_only, opened.profile.account_admin)
        self._opened[name] = effective.loaded
        if reopens:
            self._to_open[name] = effective
        waiting = tuple(change for change in after.changes if change.effect is Effect.RESTART)
        taken = tuple(str(change) for change in after.changes if change not in waiting)
        return ConfigurationReload(
            appearance=appearance_of(effective.loaded),
            settings=effective.settings_without_key,
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
    """Return a profile's settings of the screen, with the choices made on its screen."""
    profile = loaded.profile
    stored, notice = screen_state.read_screen_state(loaded.data_dir, loaded.name)
    return ProfileAppearance(
        theme=profile.theme if "theme" in profile.model_fields_set else None,
        timezone=profile.timezone,
        exact_figures=profile.figures == "exact",
        keys=profile.keys,
        mouse=profile.mouse,
        reduced_motion=profile.reduced_motion,
        preferences=preferences_from(stored),
        keep=lambda preferences: screen_state.write_screen_state(
            loaded.data_dir, loaded.name, {"theme": None, "tables": None} | preferences.as_plain()
        ),
        notice=notice,
    )


def _known_uid(loaded: LoadedProfile) -> str | None:
    """Return the UID known from the profile or an earlier session, without asking a program or keyring for the key."""
    if loaded.profile.uid is not None or loaded.profile.credentials.source not in ("file", "environment"):
        return loaded.profile.uid
    try:
        presumed = OpenProfile(loaded).presumed_account
        return presumed.uid if presumed.known else None
    except ConfigurationError:
        return None  # the error is reported when the profile is opened
