"""`tradetui overview`: several accounts on one screen, each of which can be opened from there."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from tradetui.commands.process.console import USAGE, needs_terminal
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.session.overview_profiles import OverviewProfiles, profile_names
from tradetui.commands.session.profile_sessions import ProfileSessions, appearance_of
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import run_app
from tradetui.ui.settings.ui_settings import UiSettings
from tradetui.ui.terminal.drawn_once import terminal_abilities


def run(args: argparse.Namespace) -> int:
    """Show the overview until the person leaves; raises ConfigurationError."""
    flags, names = Flags.of(args), profile_names(args.profiles)
    sources = OverviewProfiles(os.environ, flags, names).sources()  # what is wrong is said here and not on the screen
    if not needs_terminal(os.environ):
        return USAGE
    first = _first_that_loads([source.name for source in sources], flags)
    sessions = ProfileSessions(OpenProfile(first), flags, names)
    settings = UiSettings(
        environment="LIVE",
        access="MONITOR",
        profiles=sessions.choices,
        chosen=sessions.chosen,
        terminal=terminal_abilities(os.environ),
        overview=sessions,
        begins_with_overview=True,
    )
    return run_app(TradeApp(settings.with_appearance(appearance_of(first))))


def _first_that_loads(names: list[str], flags: Flags) -> LoadedProfile:
    """The first profile without a broken setting, whose look the screen begins with."""
    for name in names[:-1]:
        try:
            return load(os.environ, replace(flags, profile=name))
        except ConfigurationError:
            continue
    return load(os.environ, replace(flags, profile=names[-1]))
