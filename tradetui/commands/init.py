"""`tradetui init`: writes a profile and its key file, each mode 0600, never over an existing one."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from tradetui.commands.bootstrap import open_reader
from tradetui.commands.console import ask, ask_hidden, say
from tradetui.commands.exit_codes import ATTENTION, DONE
from tradetui.exchange.errors import AuthenticationFailed, ExchangeError, PermissionRefused, UnifiedAccount
from tradetui.profiles import paths as places
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, keys_dir, load, profiles_dir
from tradetui.profiles.model import Profile, check_base_url
from tradetui.profiles.write import check_name, write_profile

PROPOSED_BASE_URL = "https://api.bitget.com"


def run(args: argparse.Namespace) -> int:
    """Ask for what is missing (or take it from the environment) and write the two files."""
    check_name(args.name, "--name")
    config = places.config_file(os.environ, args.config)
    profile_file = profiles_dir(config) / f"{args.name}.toml"
    key_file = keys_dir(config) / f"{args.name}.toml"
    for file in (profile_file, key_file):
        if file.exists():
            raise ConfigurationError(
                "exists already and is not overwritten", place=str(file), remedy="Choose another --name."
            )
    settings = _settings(args, key_file)
    secrets = _secrets(os.environ, asks=sys.stdin.isatty())
    write_profile(key_file, secrets, f"API key of the tradetui profile {args.name}; keep mode 0600")
    try:
        write_profile(profile_file, settings, f"tradetui profile {args.name}; every key: config.example.toml")
    except ConfigurationError:
        key_file.unlink()
        raise
    say(f"Wrote {profile_file}\nWrote {key_file} (mode 0600)")
    if settings["mode"] == "monitor":
        say('The profile can only read. To reverse positions, set mode = "trade" in it.')
    elsewhere = f" --config {args.config}" if args.config else ""
    if (refusal := asyncio.run(_refusal(args))) is not None:
        say(f"The exchange refuses this key. {refusal}")
    say(f"Next: tradetui doctor{elsewhere} --profile {args.name}")
    return DONE if refusal is None else ATTENTION


async def _refusal(args: argparse.Namespace) -> ExchangeError | None:
    """What the exchange has against the key that was just written, None where it has nothing or cannot be asked."""
    loaded = load(os.environ, Flags(config=args.config, profile=args.name))
    async with open_reader(loaded) as client:
        try:
            await client.futures.accounts(product_type=loaded.profile.product_types[0])
        except (AuthenticationFailed, PermissionRefused, UnifiedAccount) as refusal:
            return refusal
        except ExchangeError as problem:
            say(f"The key was not tried: {problem}")
    return None


def _settings(args: argparse.Namespace, key_file: Path) -> dict[str, object]:
    base_url = args.base_url or os.environ.get("TRADETUI_BASE_URL") or ""
    if not base_url:
        base_url = ask("Base URL", PROPOSED_BASE_URL) if sys.stdin.isatty() else PROPOSED_BASE_URL
    try:
        base_url = check_base_url(base_url)
    except ValueError as problem:
        raise ConfigurationError(str(problem), place="--base-url", key="base_url") from None
    settings: dict[str, object] = {
        "base_url": base_url,
        "mode": "trade" if args.trade else "monitor",
        "credentials": {"source": "file", "path": str(key_file)},
    }
    if args.uid:
        settings["uid"] = args.uid
    if args.product_type:
        settings["product_types"] = [part.strip() for part in args.product_type.split(",")]
    try:
        Profile.model_validate(settings)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        raise ConfigurationError(first["msg"], place="init", key=".".join(map(str, first["loc"]))) from None
    return settings


def _secrets(environ: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    wanted = {
        "api_key": ("TRADETUI_API_KEY", "API key", ask),
        "secret": ("TRADETUI_API_SECRET", "API secret (not shown)", ask_hidden),
        "passphrase": ("TRADETUI_PASSPHRASE", "Passphrase (not shown)", ask_hidden),
    }
    found: dict[str, str] = {}
    missing: list[str] = []
    for name, (variable, question, asked_by) in wanted.items():
        value = environ.get(variable) or (_answer(asked_by, question) if asks else "")
        if value:
            found[name] = value
        else:
            missing.append(variable)
    if missing:
        raise ConfigurationError(
            f"{', '.join(missing)} not given",
            place="environment",
            remedy="Run init in a terminal, which asks, or set the variables; secrets are never taken from flags.",
        )
    return found


def _answer(asked_by: Callable[[str], str], question: str) -> str:
    try:
        return asked_by(question)
    except EOFError:
        return ""
