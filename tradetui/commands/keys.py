"""`tradetui keys`: the key table, generated from the bindings and the profile's changes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from tradetui.commands.process.console import DONE, say
from tradetui.commands.process.output import row_writer
from tradetui.profiles.errors import NoProfile
from tradetui.profiles.load import Flags, load
from tradetui.ui.key_bindings.actions import key_table


def run(args: argparse.Namespace) -> int:
    """Print id, keys and description of every binding, with the keys of the chosen profile if there is one."""
    changed = _profile_keys(args)
    writer = row_writer(args, ("id", "keys", "description"))
    for row in key_table(changed):
        writer.write({"id": row.id, "keys": row.keys, "description": row.description})
    writer.close()
    return DONE


def _profile_keys(args: argparse.Namespace) -> Mapping[str, str]:
    """Return the profile's valid keys; print on stderr why others are invalid."""
    try:
        changed = load(os.environ, Flags.of(args)).profile.keys
    except NoProfile:
        return {}
    if not changed:
        return {}
    from tradetui.ui.key_bindings.profile_bindings import profile_bindings

    checked = profile_bindings(changed)
    for trouble in checked.troubles:
        say(f"tradetui: {trouble}")
    return checked.taken
