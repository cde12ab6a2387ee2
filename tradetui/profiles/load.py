"""Reads profiles from files, the environment and the command line; later sources override earlier ones."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError, NoProfile, did_you_mean, first_broken
from tradetui.profiles.model import Profile
from tradetui.storage.toml_file import NotToml, parse_toml, read_utf8

_TRUE_VALUES = frozenset({"1", "true", "yes", "on"})
_FALSE_VALUES = frozenset({"0", "false", "no", "off", ""})
PROXY_FLAG = "--proxy"
_CREDENTIALS = ("TRADETUI_API_KEY", "TRADETUI_API_SECRET", "TRADETUI_PASSPHRASE")


@dataclass(frozen=True)
class Flags:
    """The global flags of the command line; a flag not given is None or False."""

    config: Path | None = None
    profile: str | None = None
    base_url: str | None = None
    product_type: str | None = None
    proxy: str | None = field(default=None, repr=False)
    data_dir: Path | None = None
    read_only: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace) -> Flags:
        return cls(**{flag.name: getattr(args, flag.name) for flag in fields(cls)})


@dataclass(frozen=True)
class LoadedProfile:
    """A profile ready for use, with its name and its directories."""

    name: str
    profile: Profile
    read_only: bool
    data_dir: Path
    runtime_dir: Path
    state_dir: Path
    file: Path | None
    environ: Mapping[str, str] = field(repr=False)
    proxy_source: str = ""


@dataclass(frozen=True)
class _Source:
    """One profile's settings as written, with their file."""

    settings: Mapping[str, Any]
    file: Path
    text: str
    prefix: tuple[str, ...]


def load(environ: Mapping[str, str], flags: Flags) -> LoadedProfile:
    """Return the chosen profile; environment and flags override its file.

    Raises NoProfile if nothing is configured anywhere, ConfigurationError if a file cannot be read or a value breaks
    its rule.
    """
    file = paths.config_file(environ, flags.config)
    sources, default = _read_sources(file, explicit=bool(flags.config or environ.get("TRADETUI_CONFIG")))
    chosen = flags.profile or environ.get("TRADETUI_PROFILE")
    name = chosen or default
    if name is None and len(sources) == 1:
        name = next(iter(sources))
    has_address = bool(flags.base_url or environ.get("TRADETUI_BASE_URL"))
    environment_is_complete = has_address and all(environ.get(name) for name in _CREDENTIALS)
    if name is None and sources and not environment_is_complete:
        raise _no_default(sources, file)
    if name is not None and name not in sources and (sources or flags.profile):
        raise _no_such_profile(name, sources, file, is_default=chosen is None)
    source = None if name is None else sources.get(name)
    overlay = _overlay(environ, flags)
    if source is None and not environment_is_complete:
        raise NoProfile("no configuration", location=str(file))
    settings: dict[str, Any] = dict(source.settings) if source else {}
    settings.update({key: value for key, (value, _) in overlay.items()})
    profile = _validated(settings, source, overlay)
    return LoadedProfile(
        name=name or "environment",
        profile=profile,
        read_only=flags.read_only or _truth(environ, "TRADETUI_READ_ONLY") or profile.only_reads,
        data_dir=paths.data_dir(environ, flags.data_dir, profile.data_dir),
        runtime_dir=paths.runtime_dir(environ),
        state_dir=paths.state_dir(environ),
        file=source.file if source else None,
        environ=environ,
        proxy_source=PROXY_FLAG if "proxy" in overlay else "the profile",
    )


def _no_such_profile(name: str, sources: Mapping[str, _Source], file: Path, *, is_default: bool) -> ConfigurationError:
    line = line_of(read_utf8(file), ["default_profile"]) if is_default else None
    return ConfigurationError(
        f"there is no profile {name!r}" + did_you_mean(name, list(sources)),
        location=_location(file, line) if file.is_file() else str(profiles_dir(file)),
        key="default_profile" if is_default else "profile",
        remedy=f"Profiles here: {', '.join(sources) or 'none'}. `tradetui init` writes one.",
    )


def _no_default(sources: Mapping[str, _Source], file: Path) -> ConfigurationError:
    return ConfigurationError(
        f"several profiles and no default_profile: {', '.join(sources)}",
        location=str(file if file.is_file() else profiles_dir(file)),
        key="default_profile",
        remedy=f'Choose one with --profile, or write default_profile = "{next(iter(sources))}" into {file}'
        + (" above its first table." if file.is_file() else ", a new file."),
    )


@dataclass(frozen=True)
class KnownProfiles:
    """The names of all profiles, and the default that the configuration file names, if any."""

    names: tuple[str, ...]
    written_default: str | None

    @property
    def default(self) -> str | None:
        """The profile that is opened if none is named; None if there is none or several could be meant."""
        if self.written_default is not None:
            return self.written_default if self.written_default in self.names else None
        return self.names[0] if len(self.names) == 1 else None


def known_profiles(environ: Mapping[str, str], config: Path | None) -> KnownProfiles:
    """Return the profiles in the configuration file and beside it; raises ConfigurationError."""
    sources, default = _read_sources(paths.config_file(environ, config), explicit=False)
    return KnownProfiles(tuple(sources), default)


def profiles_dir(config_file: Path) -> Path:
    """Return the directory that holds one file for each new profile."""
    return config_file.parent / "profiles.d"


def keys_dir(config_file: Path) -> Path:
    return config_file.parent / "keys"


def _read_sources(file: Path, *, explicit: bool) -> tuple[dict[str, _Source], str | None]:
    """Return every profile by name, and the default that the configuration file names."""
    sources: dict[str, _Source] = {}
    default: str | None = None
    if file.is_file():
        sources, default = _read_configuration(file)
    elif explicit and not any(profiles_dir(file).glob("*.toml")):
        raise ConfigurationError(
            "this is a directory" if file.is_dir() else "there is no such file",
            location=str(file),
            key="config",
            remedy="`tradetui init` writes one, or correct --config or TRADETUI_CONFIG.",
        )
    for single in sorted(profiles_dir(file).glob("*.toml")):
        text, tree = _parse(single)
        if single.stem in sources:
            raise ConfigurationError(
                f"profile {single.stem!r} is in {file} too", location=str(single), remedy="Remove one of the two."
            )
        sources[single.stem] = _Source(_own_settings(single, tree), single, text, ())
    return sources, default


def _own_settings(file: Path, tree: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a profile's own file; as in config.toml, they may be in a table [profiles.NAME]."""
    tables = tree.pop("profiles", {})
    table = tables.get(file.stem) if isinstance(tables, dict) else None
    if tables and (not isinstance(table, dict) or len(tables) > 1):
        raise ConfigurationError(
            "may hold this file's profile alone",
            location=str(file),
            key="profiles",
            remedy=f"Name the table [profiles.{file.stem}], or move the others into config.toml.",
        )
    twice = next((key for key in table or () if key in tree), None)
    if twice is not None:
        raise ConfigurationError(
            f"is also in [profiles.{file.stem}]", location=str(file), key=twice, remedy="Remove one of the two."
        )
    return {**tree, **(table or {})}


def _read_configuration(file: Path) -> tuple[dict[str, _Source], str | None]:
    text, tree = _parse(file)

    def refused(rule: str, *path: str, remedy: str = "") -> ConfigurationError:
        return ConfigurationError(
            rule, location=_location(file, line_of(text, path)), key=".".join(path), remedy=remedy
        )

    for key in tree:
        if key not in ("default_profile", "profiles"):
            rule = "unknown key" + did_you_mean(key, ["default_profile", "profiles"])
            raise refused(rule, key, remedy="A setting belongs in a table [profiles.NAME].")
    default = tree.get("default_profile")
    if default is not None and not isinstance(default, str):
        raise refused("must be a profile's name in quotes", "default_profile")
    tables = tree.get("profiles", {})
    if not isinstance(tables, dict):
        raise refused("must be tables [profiles.NAME]", "profiles")
    for name, settings in tables.items():
        if not isinstance(settings, dict):
            raise refused("must be a table [profiles.NAME]", "profiles", name)
    return {name: _Source(settings, file, text, ("profiles", name)) for name, settings in tables.items()}, default


def _parse(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = read_utf8(file)
        return text, parse_toml(text)
    except NotToml as problem:
        raise ConfigurationError(
            f"not readable as TOML: {problem}", location=str(file), remedy="Correct the line named."
        ) from None
    except OSError as problem:
        raise ConfigurationError(f"cannot be read: {problem.strerror}", location=str(file)) from None


def _overlay(environ: Mapping[str, str], flags: Flags) -> dict[str, tuple[Any, str]]:
    """Return settings from environment and flags, each with the name of its source."""
    overlay: dict[str, tuple[Any, str]] = {}
    if value := environ.get("TRADETUI_BASE_URL"):
        overlay["base_url"] = (value, "TRADETUI_BASE_URL")
    if value := environ.get("TRADETUI_PRODUCT_TYPE"):
        overlay["product_types"] = (_listed(value), "TRADETUI_PRODUCT_TYPE")
    if any(environ.get(name) for name in _CREDENTIALS):
        missing = [name for name in _CREDENTIALS if not environ.get(name)]
        if missing:
            raise ConfigurationError(
                "key, secret and passphrase are given together or not at all",
                location="environment",
                key=", ".join(missing),
                remedy="Set the missing ones, or unset the others.",
            )
        overlay["credentials"] = ({"source": "environment", "prefix": "TRADETUI"}, "environment")
    if flags.base_url:
        overlay["base_url"] = (flags.base_url, "--base-url")
    if flags.product_type:
        overlay["product_types"] = (_listed(flags.product_type), "--product-type")
    if flags.proxy is not None:
        overlay["proxy"] = (without_password(flags.proxy), PROXY_FLAG)
    return overlay


def without_password(proxy_flag: str) -> str:
    """Return the value of `--proxy`; raises ConfigurationError if it holds a password."""
    user_info, at_sign, _ = proxy_flag.rpartition("@")
    if at_sign and ":" in user_info.partition("://")[2]:
        raise ConfigurationError(
            "takes no password: everybody on this machine sees a command line",
            location=PROXY_FLAG,
            key="proxy",
            remedy="Write the proxy with its password into the profile (mode 0600), or into HTTPS_PROXY.",
        )
    return proxy_flag


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _truth(environ: Mapping[str, str], name: str) -> bool:
    value = environ.get(name, "").strip().lower()
    if value in _TRUE_VALUES:
        return True
    if value in _FALSE_VALUES:
        return False
    raise ConfigurationError(
        "must be 1 or 0", location="environment", key=name, remedy="Unset it to trade, set it to 1 to only read."
    )


def _validated(settings: Mapping[str, Any], source: _Source | None, overlay: Mapping[str, tuple[Any, str]]) -> Profile:
    try:
        return Profile.model_validate(settings)
    except ValidationError as problem:
        from tradetui.profiles.broken_setting import explained  # most configurations are valid

        broken = first_broken(problem)
        raise explained(broken, _location_of(broken.path, source, overlay)) from None


def _location_of(path: Sequence[str], source: _Source | None, overlay: Mapping[str, tuple[Any, str]]) -> str:
    if path and path[0] in overlay:
        return overlay[path[0]][1]
    if source is None:
        return "environment"
    in_table = ["profiles", source.file.stem, *path]
    return _location(source.file, line_of(source.text, [*source.prefix, *path]) or line_of(source.text, in_table))


def _location(file: Path, line: int | None) -> str:
    return f"{file}:{line}" if line else str(file)


_TABLE = re.compile(r"^\s*(?P<brackets>\[\[?)\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<name>[A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Return the 1-based line of the key at `path` in a TOML text, or of its nearest existing parent.

    An entry of a list of tables is named by its 0-based index.
    """
    best: tuple[int, int] | None = None
    table: list[str] = []
    entries: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _split(header["name"])
            if header["brackets"] == "[[":
                table.append(str(entries[header["name"]]))
                entries[header["name"]] += 1
            key_path = table
        elif key := _KEY.match(line):
            key_path = [*table, *_split(key["name"])]
        else:
            continue
        depth = len(key_path)
        if list(path[:depth]) == key_path and (best is None or depth > best[0]):
            best = (depth, number)
    return best[1] if best else None


def _split(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
