"""`tradetui` and `tradetui monitor`: an interactive session on a profile."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from tradetui.commands.process.console import USAGE, needs_terminal
from tradetui.commands.session.open_profile import open_privately
from tradetui.profiles.load import Flags


def run(args: argparse.Namespace) -> int:
    flags = Flags.of(args)
    if args.command == "monitor":
        flags = replace(flags, read_only=True)
    profile = open_privately(os.environ, flags)
    _ = profile.route  # reports its errors before the screen opens
    if not needs_terminal(os.environ):
        return USAGE
    from tradetui.commands.session.profile_sessions import ProfileSessions, appearance_of
    from tradetui.ui.application.app import TradeApp
    from tradetui.ui.application.run_app import run_app
    from tradetui.ui.settings.ui_settings import UiSettings
    from tradetui.ui.terminal.drawn_once import terminal_abilities

    sessions = ProfileSessions(profile, flags)
    settings = UiSettings(
        environment="DEMO" if profile.loaded.profile.environment == "demo" else "LIVE",
        access="MONITOR" if profile.loaded.read_only else "LOCKED",
        profiles=sessions.choices,
        chosen=sessions.chosen,
        overview=sessions if len(sessions.choices) > 1 else None,
        terminal=terminal_abilities(os.environ),
    )
    return run_app(TradeApp(settings.with_appearance(appearance_of(profile.loaded))))
