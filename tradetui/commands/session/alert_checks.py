"""The checks of `doctor` on a profile's alerts, on desktop notifications, and on tmux around the screen."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tradetui.commands.process.console import stdout
from tradetui.commands.session.alert_settings import profile_rules
from tradetui.desk.alerts.rules import Channel, DesktopSequence, RuleKind, impossible
from tradetui.desk.feeds.accounts_orders import without_repeated_coins
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError, Unreachable
from tradetui.profiles.load import LoadedProfile
from tradetui.trading.account_totals import totals_of
from tradetui.ui.alerts.desktop_notification import in_tmux, notification, own_sequence
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType, may_trade

_UNNOTICED_MS: Final = 50
"""Milliseconds between Esc and another key that nobody presses."""
_PASSTHROUGH: Final = "allow-passthrough"
_TEST_SENTENCE: Final = "Test by tradetui doctor: this is how an alert comes to your desktop"


def ask_tmux(*arguments: str) -> str | None:
    """The output of a tmux command; None where it fails."""
    try:
        done = subprocess.run(("tmux", *arguments), capture_output=True, text=True, timeout=3.0, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def escape_note(environ: Mapping[str, str]) -> str:
    """Why tmux takes Esc and the next key for one, as older versions do for half a second; empty if it does not."""
    wait_ms = ask_tmux("show-options", "-sv", "escape-time") if in_tmux(environ) else None
    if wait_ms is None or not wait_ms.isdecimal() or int(wait_ms) <= _UNNOTICED_MS:
        return ""
    return (
        f"tmux waits {wait_ms} ms after Esc, and a key pressed meanwhile loses the Esc: "
        "`set -sg escape-time 10` in tmux.conf shortens that"
    )


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """A finding and its remedy, which is empty if all is well."""

    finding: str
    remedy: str = ""


async def listed_symbols(client: ExchangeReader, loaded: LoadedProfile) -> frozenset[str] | None:
    """Every symbol of the profile's product types, where a rule names one and the exchange lists them; else None."""
    if not any(rule.condition.symbol for rule in profile_rules(loaded.profile)):
        return None
    symbols: set[str] = set()
    try:
        for product_type in loaded.profile.product_types:
            reply = await client.futures.contracts(product_type=product_type)
            symbols |= {contract.symbol.upper() for contract in reply.rows}
    except Unreachable:
        raise
    except ExchangeError:
        return None
    return frozenset(symbols) or None


async def has_tickers(client: ExchangeReader, loaded: LoadedProfile) -> bool:
    """Whether the exchange serves the ticker of a price alert's symbol; True without a price alert."""
    priced = [r.condition for r in profile_rules(loaded.profile) if r.condition.kind is RuleKind.PRICE_CROSSES]
    product_types = [ProductType(name) for name in loaded.profile.product_types]
    for condition in priced:
        product_type = next((p for p in product_types if may_trade(p, condition.symbol)), None)
        if product_type is None:
            continue
        try:
            await client.futures.ticker(product_type=product_type, symbol=condition.symbol)
        except Unreachable:
            raise
        except ExchangeError:
            return False
    return True


async def no_equity_because(client: ExchangeReader, loaded: LoadedProfile) -> str:
    """Why the accounts' equity is unknown, if an alert is about today's result; empty if it is known."""
    if not any(rule.condition.kind is RuleKind.TODAY_RESULT_BELOW for rule in profile_rules(loaded.profile)):
        return ""
    accounts: list[FuturesAccount] = []
    undecodable_rows = 0
    try:
        for product_type in loaded.profile.product_types:
            reply = without_repeated_coins(await client.futures.accounts(product_type=product_type))
            accounts += reply.rows
            undecodable_rows += len(reply.undecodable_rows)
    except Unreachable:
        raise
    except ExchangeError:
        return ""
    return totals_of(accounts, undecodable_rows=undecodable_rows).no_equity_because


def rules_finding(
    loaded: LoadedProfile, symbols: frozenset[str] | None, *, tickers: bool, no_equity_because: str = ""
) -> AlertFinding:
    """The alerts that cannot fire, with their reasons; or that all can."""
    rules = profile_rules(loaded.profile)
    product_types = [ProductType(name) for name in loaded.profile.product_types]
    faults = []
    for rule in rules:
        why = impossible(
            rule, product_types, sends=not loaded.read_only, symbols=symbols, no_equity_because=no_equity_because
        )
        if why and (loaded.profile.alerts is not None or rule.condition.kind is not RuleKind.OUTCOME_UNKNOWN):
            faults.append(f"{rule.name!r} cannot fire: {why}")
        elif rule.condition.kind is RuleKind.PRICE_CROSSES and not tickers:
            faults.append(f"{rule.name!r} can fire only while a position of it is held: the exchange serves no ticker")
    if faults:
        return AlertFinding("; ".join(faults), "Correct them in alerts of the profile, or remove them.")
    source = "of the profile" if loaded.profile.alerts is not None else "that count without configuration"
    return AlertFinding(f"{len(rules)} {source}, each can fire")


def desktop_finding(loaded: LoadedProfile, environ: Mapping[str, str], *, to_terminal: bool) -> AlertFinding:
    """Whether a notification can reach the desktop; a test is sent if there is a terminal."""
    if not any(Channel.DESKTOP in rule.channels for rule in profile_rules(loaded.profile)):
        return AlertFinding("no alert goes to the desktop")
    chosen = loaded.profile.desktop_notification
    sequence = own_sequence(environ) if chosen == "auto" else DesktopSequence(chosen)
    through = " through tmux" if in_tmux(environ) else ""
    test = "no test is sent without a terminal"
    if to_terminal:
        terminal = stdout()
        terminal.layout(notification(_TEST_SENTENCE, sequence, environ))
        terminal.flush()
        test = "a test was sent. If none came, try the other of osc9 and osc777 as desktop_notification"
    if through and (value := _missing_passthrough()):
        return AlertFinding(
            f"{sequence}{through}, which does not pass it on from every window; {test}",
            f"Put `set -g {_PASSTHROUGH} {value}` into tmux.conf, and run `tmux set -g {_PASSTHROUGH} {value}` now.",
        )
    return AlertFinding(f"{sequence}{through}; {test}")


def _missing_passthrough() -> str:
    """The tmux setting that passes such sequences on from every window; empty if it is set."""
    value = ask_tmux("show-options", "-pAv", _PASSTHROUGH)
    if value in (None, "all"):  # a tmux that does not know the option passes everything on
        return ""
    version = re.search(r"(\d+)\.(\d+)", ask_tmux("display-message", "-p", "#{version}") or "")
    if version is not None and (int(version[1]), int(version[2])) >= (3, 4):
        return "all"  # from windows out of sight too
    return "" if value == "on" else "on"
