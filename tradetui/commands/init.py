"""`tradetui init`: writes a profile and the file of its API key, and tries the key on the exchange.

Only the owner can read both files (mode 0600), and no existing file is overwritten.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from tradetui.commands.process.console import ATTENTION, DONE, ask, ask_hidden, say
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import WARN_OFFSET_MS
from tradetui.exchange.errors import (
    AuthenticationFailed,
    ClassicAccount,
    ExchangeError,
    PermissionRefused,
    UnifiedAccount,
)
from tradetui.exchange.unified import UNIFIED_SENTENCE
from tradetui.profiles import paths
from tradetui.profiles.broken_setting import explained
from tradetui.profiles.errors import ConfigurationError, first_broken
from tradetui.profiles.load import (
    Flags,
    KnownProfiles,
    keys_dir,
    known_profiles,
    load,
    profiles_dir,
    without_password,
)
from tradetui.profiles.model import Profile, check_base_url
from tradetui.profiles.secrets import PEM_BEGIN, check_characters
from tradetui.profiles.write import check_name, write_default, write_profile
from tradetui.wire.models.api_key import FUTURES_WRITE_AUTHORITIES, AccountInfo, may_withdraw, permission_texts

# The documentation's example has the parent ID 1, which is no account: such a short ID means that there is no parent.
_SHORTEST_UID = 5
_ANY_ADDRESS = frozenset({"0.0.0.0", "0.0.0.0/0", "::", "::/0"})
PROPOSED_BASE_URL = "https://api.bitget.com"
_VARIABLES = {"api_key": "TRADETUI_API_KEY", "secret": "TRADETUI_API_SECRET", "passphrase": "TRADETUI_PASSPHRASE"}
_FLAGS = {"product_types": "--product-type", "proxy": "--proxy", "uid": "--uid"}


def run(args: argparse.Namespace) -> int:
    """Ask for missing values (or take them from the environment), write the two files and try the key."""
    asks = sys.stdin.isatty()
    config = paths.config_file(os.environ, args.config)
    existing = known_profiles(os.environ, args.config)
    name = _profile_name(args, existing, asks=asks)
    profile_file, key_file = profiles_dir(config) / f"{name}.toml", keys_dir(config) / f"{name}.toml"
    for file in (profile_file, key_file):
        if file.exists():
            another = "Name another profile with --profile."
            raise ConfigurationError("exists already and is not overwritten", location=str(file), remedy=another)
    settings = _settings(args, key_file)
    secrets = _secrets(os.environ, asks=asks)
    check_characters(secrets, "API key", is_rsa=secrets["secret"].startswith(PEM_BEGIN))
    default = _chosen_default(args, existing, name, asks=asks)
    write_profile(key_file, secrets, f"API key of the tradetui profile {name}; keep mode 0600")
    try:
        write_profile(profile_file, settings, f"tradetui profile {name}; every key: tradetui config example")
    except ConfigurationError:
        key_file.unlink()
        raise
    say(f"Wrote {profile_file}\nWrote {key_file} (mode 0600)")
    if settings["mode"] == "monitor":
        say('The profile can only read. To reverse positions, set mode = "trade" in it.')
    is_default_clear = _keep_default(config, existing, default)
    key_check = asyncio.run(check_key(OpenProfile(load(os.environ, Flags(config=args.config, profile=name)))))
    for sentence in key_check.sentences:
        say(sentence)
    if key_check.refused:
        say(f"Correct what is wrong in {key_file}; a new key goes there too.")
    elsewhere = f" --config {args.config}" if args.config else ""
    say(f"Next: tradetui doctor{elsewhere} --profile {name}")
    return DONE if is_default_clear and not key_check.refused else ATTENTION


def _profile_name(args: argparse.Namespace, existing: KnownProfiles, *, asks: bool) -> str:
    if args.name and args.profile and args.name != args.profile:
        raise ConfigurationError(
            f"names {args.profile!r} and --name {args.name!r}", location="--profile", remedy="Give one of the two."
        )
    flag = "--name" if args.name else "--profile"
    name: str = args.name or args.profile or ""
    if not name:
        name = "main"
        if existing.names and asks:
            say(f"Profiles now: {', '.join(existing.names)}.")
            name = ask("Name of the new profile", "" if "main" in existing.names else "main")
    check_name(name, flag)
    if name in existing.names:
        raise ConfigurationError(
            f"there is a profile {name!r}: it exists already and is not overwritten",
            location=flag,
            remedy="Name another one with --profile.",
        )
    return name


def _chosen_default(args: argparse.Namespace, existing: KnownProfiles, name: str, *, asks: bool) -> str | None:
    """Return the profile that plain `tradetui` opens; None if it is undecided and nobody can be asked."""
    if args.default or not existing.names:
        return name
    if not asks:
        return existing.default
    names = (*existing.names, name)
    proposed = existing.default or name
    while True:
        answer = ask(f"Which profile does plain `tradetui` open: {', '.join(names)}?", proposed)
        if answer in names:
            return answer
        say(f"There is no profile {answer!r}.")


def _keep_default(config: Path, existing: KnownProfiles, default: str | None) -> bool:
    """Write the default profile if it changes or would be unclear; return whether it is clear afterwards."""
    if not existing.names:
        return True
    if default is None:
        say(
            f"Plain `tradetui` opens none of several profiles. Name one with --profile, or write "
            f'default_profile = "NAME" into {config}.'
        )
        return False
    try:
        if default != existing.written_default:
            write_default(config, default)
    except ConfigurationError as problem:
        say(f"The default was not written down. {problem}")
        return False
    say(f"Plain `tradetui` opens the profile {default}; default_profile in {config} says so.")
    return True


def _settings(args: argparse.Namespace, key_file: Path) -> dict[str, object]:
    base_url = args.base_url or os.environ.get("TRADETUI_BASE_URL") or ""
    if not base_url:
        base_url = ask("Base URL", PROPOSED_BASE_URL) if sys.stdin.isatty() else PROPOSED_BASE_URL
    try:
        base_url = check_base_url(base_url)
    except ValueError as problem:
        raise ConfigurationError(str(problem), location="--base-url", key="base_url") from None
    settings: dict[str, object] = {
        "base_url": base_url,
        "mode": "trade" if args.trade else "monitor",
        "credentials": {"source": "file", "path": str(key_file)},
    }
    if args.uid:
        settings["uid"] = args.uid
    if args.proxy:
        settings["proxy"] = without_password(args.proxy)
    if args.product_type:
        settings["product_types"] = [part.strip() for part in args.product_type.split(",")]
    try:
        Profile.model_validate(settings)
    except ValidationError as problem:
        broken = first_broken(problem)
        raise explained(broken, _FLAGS.get(broken.path[0], "init")) from None
    return settings


def _secrets(environ: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    """Return API key, secret and passphrase by name in the key file; raises ConfigurationError if one is missing."""
    secrets = {name: environ.get(variable, "") for name, variable in _VARIABLES.items()}
    if asks:
        secrets["api_key"] = secrets["api_key"] or ask("API key")
        secrets["secret"] = secrets["secret"] or ask_hidden("API secret (not shown)")
        secrets["passphrase"] = secrets["passphrase"] or ask_hidden("Passphrase (not shown)")
    missing = [_VARIABLES[name] for name, value in secrets.items() if not value]
    if missing:
        raise ConfigurationError(
            f"{', '.join(missing)} not given",
            location="environment",
            remedy="Run init in a terminal, which asks, or set the variables; secrets are never taken from flags.",
        )
    return secrets


@dataclass(frozen=True, slots=True)
class KeyCheck:
    sentences: tuple[str, ...]
    refused: bool = False


async def check_key(profile: OpenProfile) -> KeyCheck:
    """Try the key: read the futures accounts, which every key may read, and the account information."""
    async with profile.reader() as client:
        try:
            await client.futures.accounts(product_type=profile.loaded.profile.product_types[0])
        except (AuthenticationFailed, PermissionRefused, UnifiedAccount, ClassicAccount) as refusal:
            return KeyCheck((f"The exchange refuses this key. {refusal}", *_clock_sentences(client)), refused=True)
        except ExchangeError as problem:
            return KeyCheck((f"The key was not tried: {problem}",))
        try:
            reply = await client.spot.account_info()
        except ExchangeError as problem:
            nothing_else = f"The key can read futures. The exchange reports nothing else about it: {problem}"
            sentences: tuple[str, ...] = (nothing_else,)
        else:
            sentences = (
                account_sentences(reply.rows[0], unified=client.is_unified)
                if reply.rows
                else ("The key can read futures.",)
            )
        if client.is_unified:
            sentences = (UNIFIED_SENTENCE, *sentences)
        return KeyCheck((*sentences, *_clock_sentences(client)))


def account_sentences(info: AccountInfo, *, unified: bool) -> tuple[str, ...]:
    """Describe the account's kind, the key's permissions and its address binding; warn if the key may withdraw."""
    kind = "a copy trader" if info.is_copy_trader else "not a copy trader"
    if info.is_copy_trader is None:
        kind = "a copy trader or not (the exchange does not say)"
    parent = info.parent_id or ""
    owner = f", a sub-account of {parent}" if len(parent) >= _SHORTEST_UID and parent != info.user_id else ""
    mode = "unified" if unified else "classic"
    permissions = "; ".join(permission_texts(info.authorities)) or "the exchange does not report them"
    sentences = [f"Account: user ID {info.user_id}{owner}, {mode} mode, {kind}.", f"Permissions: {permissions}."]
    if info.lacks_all(*FUTURES_WRITE_AUTHORITIES):
        sentences.append(
            "This key cannot change a position: nothing can be reversed with it, whatever the mode says. To reverse, "
            "create a key that may read and write futures orders."
        )
    if may_withdraw(info.authorities):
        sentences.append(
            "WARNING: this key may withdraw, so a thief could empty the account. tradetui never needs that: create a "
            "key without withdrawal and delete this one."
        )
    if not info.ips or _ANY_ADDRESS & set(info.ips):
        sentences.append("Addresses: the key works from any address. Bind it to your address at the exchange.")
    else:
        sentences.append(f"Addresses: the key works from {', '.join(info.ips)} only.")
    return tuple(sentences)


def _clock_sentences(client: ExchangeReader) -> tuple[str, ...]:
    offset = client.server_clock.offset_ms
    if offset is None:
        return ()
    if abs(offset) <= WARN_OFFSET_MS:
        return (f"Clock: {offset:+d} ms from the exchange's, which is fine.",)
    return (f"Clock: {offset:+d} ms from the exchange's. Set this machine's clock; above 5 s nothing is sent.",)
