"""`tradetui paths`: the path of every file, with and without a configuration."""

from __future__ import annotations

import argparse
import os

from tradetui.commands.process.console import DONE, USAGE, say, stdout
from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError, NoProfile
from tradetui.profiles.load import Flags, keys_dir, load, profiles_dir

_LABELS = {"keys": "API keys", "runtime": "rate limits"}


def run(args: argparse.Namespace) -> int:
    """Print every path and whether it exists; exit code 2 if the configuration cannot be loaded."""
    config = paths.config_file(os.environ, args.config)
    data_dir = paths.data_dir(os.environ, args.data_dir)
    problem: ConfigurationError | None = None
    try:
        data_dir = load(os.environ, Flags.of(args)).data_dir
    except NoProfile:
        pass
    except ConfigurationError as not_loaded:
        problem = not_loaded
    path_by_name = {
        "configuration": config,
        "profiles": profiles_dir(config),
        "keys": keys_dir(config),
        "data": data_dir,
        "state": paths.state_dir(os.environ),
        "runtime": paths.runtime_dir(os.environ),
    }
    output = stdout()
    if args.json:
        rows = [{"name": name, "path": str(path), "exists": path.exists()} for name, path in path_by_name.items()]
        output.json_line(rows)
    else:
        for name, path in path_by_name.items():
            output.line(f"{_LABELS.get(name, name):<14} {path}{'' if path.exists() else '  (none yet)'}")
    output.flush()
    if problem is not None:
        say(f"tradetui: {problem}")
        return USAGE
    return DONE
