"""The checks of alerts in `doctor`: which alerts can never fire, and whether one reaches the desktop.

Only the exchange's own answer rules an alert out: a call that fails leaves it unknown, and the alert counts as
possible. tmux between screen and terminal is checked here too, because it can hold back notifications and keys.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from tradetui.commands.process.console import stdout
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.events.rules import Channel, DesktopSequence, RuleKind, impossible
from tradetui.desk.feeds.orders import without_repeated_coins
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, ExchangeError, Unreachable
from tradetui.trading.account_totals import totals_of
from tradetui.ui.alerts.alert_notices import in_tmux, notification, own_sequence
from tradetui.wire.endpoints.reply import R, Reply
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.text import counted

_UNNOTICED_MS: Final = 50
"""Longest time in ms between Esc and another key that nobody notices."""
_PASSTHROUGH: Final = "allow-passthrough"
_TEST_SENTENCE: Final = "Test by tradetui doctor: this is how an alert comes to your desktop"


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """A finding and its remedy, which is empty if all is well."""

    finding: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class AlertEvidence:
    """The exchange's answers about a profile's alerts; each default also means unknown."""

    symbols: frozenset[str] | None = None
    """Every symbol of the profile's product types."""
    lacks_tickers: bool = False
    no_equity_because: str = ""
    """Why the accounts have no equity in USDT, such as `no USDT value of BTC`."""


async def read_alert_evidence(client: ExchangeReader, profile: OpenProfile) -> AlertEvidence:
    """Read only the facts that the profile's alerts depend on.

    An unreachable exchange is awaited only once: facts read before that count, the others are unknown.
    """
    conditions = [rule.condition for rule in profile.rules_in_force]
    product_types = profile.settings_without_key.product_types
    priced = {condition.symbol: None for condition in conditions if condition.kind is RuleKind.PRICE_CROSSES}
    evidence = AlertEvidence()
    with suppress(Unreachable):
        if any(condition.symbol for condition in conditions):
            evidence = replace(evidence, symbols=await _symbols(client, product_types))
        evidence = replace(evidence, lacks_tickers=await _lacks_tickers(client, product_types, priced))
        if any(condition.kind is RuleKind.TODAY_RESULT_BELOW for condition in conditions):
            evidence = replace(evidence, no_equity_because=await _why_no_equity(client, product_types))
    return evidence


async def _symbols(client: ExchangeReader, product_types: Sequence[ProductType]) -> frozenset[str] | None:
    symbols: set[str] = set()
    for product_type in product_types:
        reply = await _reply_or_refusal(client.futures.contracts(product_type=product_type))
        if isinstance(reply, ExchangeError) or reply.undecodable_rows:
            return None
        symbols |= {contract.symbol.upper() for contract in reply.rows}
    return frozenset(symbols) or None


async def _lacks_tickers(client: ExchangeReader, product_types: Sequence[ProductType], symbols: Iterable[str]) -> bool:
    for symbol in symbols:
        product_type = next((p for p in product_types if may_trade(p, symbol)), None)
        if product_type is not None:
            reply = await _reply_or_refusal(client.futures.ticker(product_type=product_type, symbol=symbol))
            if isinstance(reply, EndpointMissing):
                return True
    return False


async def _why_no_equity(client: ExchangeReader, product_types: Sequence[ProductType]) -> str:
    accounts: list[FuturesAccount] = []
    undecodable_rows = 0
    for product_type in product_types:
        reply = await _reply_or_refusal(client.futures.accounts(product_type=product_type))
        if isinstance(reply, ExchangeError):
            return ""
        reply = without_repeated_coins(reply)
        accounts += reply.rows
        undecodable_rows += len(reply.undecodable_rows)
    return totals_of(accounts, undecodable_rows=undecodable_rows).no_equity_because


async def _reply_or_refusal(call: Awaitable[Reply[R]]) -> Reply[R] | ExchangeError:
    """Return the reply, or the error in its place; raises Unreachable."""
    try:
        return await call
    except Unreachable:
        raise
    except ExchangeError as refusal:
        return refusal


def rules_finding(profile: OpenProfile, evidence: AlertEvidence) -> AlertFinding:
    """Return the alerts that cannot fire with their reasons, or that all can."""
    rules = profile.rules_in_force
    written = {alert.rule.condition for alert in profile.loaded.profile.alerts}
    faults = []
    for rule in rules:
        why = impossible(
            rule,
            profile.settings_without_key.product_types,
            sends=not profile.loaded.read_only,
            symbols=evidence.symbols,
            no_equity_because=evidence.no_equity_because,
        )
        if why and (rule.condition in written or rule.condition.kind is not RuleKind.OUTCOME_UNKNOWN):
            faults.append(f"{rule.name!r} cannot fire: {why}")
        elif rule.condition.kind is RuleKind.PRICE_CROSSES and evidence.lacks_tickers:
            faults.append(f"{rule.name!r} can fire only while a position of it is held: the exchange serves no ticker")
    if faults:
        return AlertFinding("; ".join(faults), "Correct or remove them, in alerts of the profile or on the screen A.")
    return AlertFinding(f"{counted(len(rules), 'alert')}, each can fire" if rules else "none")


def try_desktop(profile: OpenProfile, environ: Mapping[str, str], *, sends_test: bool) -> AlertFinding:
    """Send a test notification if `sends_test`; return how it reaches the desktop, and what tmux holds back."""
    if not any(Channel.DESKTOP in rule.channels for rule in profile.rules_in_force):
        return AlertFinding("no alert goes to the desktop")
    chosen = profile.loaded.profile.desktop_notification
    sequence = own_sequence(environ) if chosen == "auto" else DesktopSequence(chosen)
    through = " through tmux" if in_tmux(environ) else ""
    test = "no test is sent without a terminal"
    if sends_test:
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


def escape_note(environ: Mapping[str, str]) -> str:
    """Describe that tmux joins Esc and the next key, as older versions do for half a second; empty if not."""
    wait_ms = _ask_tmux("show-options", "-sv", "escape-time") if in_tmux(environ) else None
    if wait_ms is None or not wait_ms.isdecimal() or int(wait_ms) <= _UNNOTICED_MS:
        return ""
    return (
        f"tmux waits {wait_ms} ms after Esc, and a key pressed meanwhile loses the Esc: "
        "`set -sg escape-time 10` in tmux.conf shortens that"
    )


def _missing_passthrough() -> str:
    """Return the tmux setting that would pass these sequences on from every window; empty if it is set."""
    value = _ask_tmux("show-options", "-pAv", _PASSTHROUGH)
    if value in (None, "all"):  # a tmux without the option passes everything on
        return ""
    version = re.search(r"(\d+)\.(\d+)", _ask_tmux("display-message", "-p", "#{version}") or "")
    if version is not None and (int(version[1]), int(version[2])) >= (3, 4):
        return "all"  # from hidden windows too
    return "" if value == "on" else "on"


def _ask_tmux(*arguments: str) -> str | None:
    """Return the output of a tmux command; None if it fails."""
    try:
        done = subprocess.run(("tmux", *arguments), capture_output=True, text=True, timeout=3.0, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
