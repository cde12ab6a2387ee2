"""Paths of configuration and data on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

APP_NAME = "tradetui"


def _path_in(environ: Mapping[str, str], variable: str) -> Path | None:
    return Path(path).expanduser() if (path := environ.get(variable)) else None


def config_file(environ: Mapping[str, str], flag: Path | None = None) -> Path:
    """Return the configuration file's path: the flag, `TRADETUI_CONFIG`, or the user's own."""
    if flag is not None:
        return flag.expanduser()
    return _path_in(environ, "TRADETUI_CONFIG") or platformdirs.user_config_path(APP_NAME) / "config.toml"


def data_dir(environ: Mapping[str, str], flag: Path | None = None, profile: Path | None = None) -> Path:
    """Return the data directory: the flag, `TRADETUI_DATA_DIR`, the profile's, or the user's own."""
    chosen = flag or _path_in(environ, "TRADETUI_DATA_DIR") or profile
    return chosen.expanduser() if chosen else platformdirs.user_data_path(APP_NAME)


def state_dir(environ: Mapping[str, str]) -> Path:
    """Return the directory of the journal registry: `TRADETUI_STATE_DIR` or the user's state directory.

    It does not depend on the data directory, and unlike the runtime directory it is not emptied.
    """
    return _path_in(environ, "TRADETUI_STATE_DIR") or platformdirs.user_state_path(APP_NAME)


def runtime_dir(environ: Mapping[str, str]) -> Path:
    """Return the directory of the shared rate budget: `TRADETUI_RUNTIME_DIR` or the user's runtime directory.

    If the login set none (cron, a bare container), the user's cache directory is used: in a directory that everybody
    may write to, a fixed name could belong to somebody else.
    """
    if runtime_path := _path_in(environ, "TRADETUI_RUNTIME_DIR"):
        return runtime_path
    session_dir = environ.get("XDG_RUNTIME_DIR")
    if session_dir and Path(session_dir).is_dir():
        return Path(session_dir) / APP_NAME
    return platformdirs.user_cache_path(APP_NAME) / "run"
