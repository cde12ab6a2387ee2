"""`tradetui` and `tradetui monitor`: an interactive session on a profile."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tradetui.commands.process.console import needs_terminal
from tradetui.commands.process.exit_codes import USAGE
from tradetui.commands.session.data_directory import load_privately
from tradetui.profiles.load import Flags, LoadedProfile, load, profile_names
from tradetui.profiles.route import route_of

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.ui.settings import ProfileChoice


def run(args: argparse.Namespace) -> int:
    """Open the screen; the desk is built behind it."""
    flags = Flags(
        config=args.config,
        profile=args.profile,
        base_url=args.base_url,
        product_type=args.product_type,
        proxy=args.proxy,
        data_dir=args.data_dir,
        read_only=args.read_only or args.command == "monitor",
    )
    loaded = load_privately(os.environ, flags)
    route_of(loaded)  # what is wrong with it is said here and not behind the screen
    if not needs_terminal(os.environ):
        return USAGE
    from tradetui.commands.session import screen_state
    from tradetui.ui.app import TradeApp
    from tradetui.ui.preferences import preferences_from
    from tradetui.ui.settings import UiSettings
    from tradetui.ui.tty.abilities import terminal_abilities
    from tradetui.ui.tty.run_app import run_app

    profile = loaded.profile
    stored, notice = screen_state.read_screen_state(loaded.data_dir)
    settings = UiSettings(
        environment="DEMO" if profile.environment == "demo" else "LIVE",
        access="MONITOR" if loaded.read_only else "LOCKED",
        profiles=profile_choices(loaded, flags),
        theme=profile.theme if "theme" in profile.model_fields_set else None,
        terminal=terminal_abilities(os.environ),
        timezone=profile.timezone,
        exact_figures=profile.figures == "exact",
        keys=profile.keys,
        preferences=preferences_from(stored),
        notice=notice,
        keep=lambda preferences: screen_state.write_screen_state(loaded.data_dir, preferences.as_plain()),
    )
    return run_app(TradeApp(settings))


def profile_choices(first: LoadedProfile, flags: Flags) -> list[ProfileChoice]:
    """Every profile there is, the chosen one first; one that is made of a key given out joins them."""
    from tradetui.ui.settings import ProfileChoice

    choices: list[ProfileChoice] = []

    def add(name: str) -> None:
        choices.append(ProfileChoice(name, partial(_open_desk, name, first, flags, add)))

    for name in (first.name, *(name for name in profile_names(first.environ, flags) if name != first.name)):
        add(name)
    return choices


def _open_desk(name: str, first: LoadedProfile, flags: Flags, made: Callable[[str], None]) -> Desk:
    from tradetui.commands.session.bootstrap import open_desk
    from tradetui.commands.session.data_directory import close_data_dir

    loaded = first
    if name != first.name:
        loaded = load(first.environ, replace(flags, profile=name, base_url=None))
        close_data_dir(loaded)
    return open_desk(loaded, flags, made)
