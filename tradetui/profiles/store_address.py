"""Turns the setting `store` into what libpq connects with; PostgreSQL's library is loaded only where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tradetui.profiles.errors import ConfigurationError
from tradetui.storage.postgres.errors import WrongStoreSetting


def store_conninfo(setting: str, environ: Mapping[str, str], location: str) -> str:
    """Return the checked conninfo of a setting, which stands in `location`; raises ConfigurationError."""
    if not setting.strip():
        remedy = 'Write store = "service=NAME", or take the setting out.'
        raise ConfigurationError("is empty", location=location, key="store", remedy=remedy)
    try:
        from tradetui.storage.postgres.conninfo import checked_conninfo

        return checked_conninfo(setting, environ, Path.home())
    except ImportError:
        rule = "needs PostgreSQL's library psycopg, which is not installed"
        remedy = "Run pip install '.[store]' in tradetui's source directory."
    except WrongStoreSetting as problem:
        rule, remedy = str(problem), f"{problem.remedy}."
    raise ConfigurationError(rule, location=location, key="store", remedy=remedy)
