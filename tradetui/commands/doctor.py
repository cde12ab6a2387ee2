"""`tradetui doctor`: checks one by one what a session needs, and prints a finding for each, with a remedy if it fails.

It changes nothing at the exchange. An unknown result is "not checked", which is neither a pass nor a failure.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from tradetui.commands.process.console import ATTENTION, DONE, stdout
from tradetui.commands.session.alert_checks import (
    AlertEvidence,
    AlertFinding,
    escape_note,
    read_alert_evidence,
    rules_finding,
    try_desktop,
)
from tradetui.commands.session.open_profile import OpenProfile, close_data_dir, permission_sentence
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.feeds.polling.multi_product import left_out_sentence
from tradetui.desk.intents.journal.registered_journal import JournalLocation, RegisteredJournal, existing_journal
from tradetui.desk.intents.journal.store_mark import JOINED, MARK_FILE, REJOIN
from tradetui.desk.intents.states import ENDED
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import WARN_OFFSET_MS, Moment, SystemClock
from tradetui.exchange.errors import ExchangeError, Hop, Unreachable
from tradetui.exchange.rate_limit.quota import AddressUsage
from tradetui.exchange.unified import UNIFIED_SENTENCE
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.profiles.route import Route
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.ui.key_bindings.profile_bindings import profile_bindings
from tradetui.ui.settings.themes import DEFAULT_THEME, THEMES, theme_named
from tradetui.wire.enums import PlanType
from tradetui.wire.models.api_key import may_withdraw, permission_texts
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import counted

_UNREACHABLE = "not checked, the exchange cannot be reached"
_HOPS = {
    Hop.PROXY: "the proxy cannot be reached",
    Hop.NAME: "its name cannot be resolved",
    Hop.TLS: "TLS fails",
    Hop.EXCHANGE: "the exchange does not answer",
}


class CheckStatus(StrEnum):
    OK = "ok"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


_MARKS = {CheckStatus.OK: "ok  ", CheckStatus.FAILED: "FAIL", CheckStatus.NOT_CHECKED: "--  "}


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    status: CheckStatus
    finding: str
    remedy: str = ""

    def as_json(self) -> dict[str, str | bool | None]:
        ok = None if self.status is CheckStatus.NOT_CHECKED else self.status is CheckStatus.OK
        status, finding = str(self.status), self.finding
        return {"check": self.name, "ok": ok, "status": status, "found": finding, "remedy": self.remedy}

    def as_text(self) -> str:
        remedy = f"  ->  {self.remedy}" if self.remedy and self.status is CheckStatus.FAILED else ""
        return f"{_MARKS[self.status]}  {self.name:<16} {self.finding}{remedy}"


def run(args: argparse.Namespace) -> int:
    """Print every check; exit code 3 if one failed. A configuration that cannot be loaded is an error of its own."""
    loaded = load(os.environ, Flags.of(args))
    profile = OpenProfile(loaded)
    route = profile.route
    # Before any file in the directory is read or written.
    data_directory = _close_data_directory(loaded)
    account = profile.account
    reached, online = asyncio.run(_online(profile))
    key_works = all(check.status is CheckStatus.OK for check in online if check.name == "key")
    checks = [
        _configuration(loaded),
        _passed("proxy", route.proxy_text or "none"),
        _certificates(loaded, route),
        *_key_log(loaded),
        data_directory,
        *_keys(loaded),
        _theme(loaded),
        _account(account, loaded.profile.uid, reached=reached, key_works=key_works),
        _journal(profile.journal),
        _terminal(),
        _alert_check("desktop", try_desktop(profile, os.environ, sends_test=stdout().is_terminal and not args.json)),
        *online,
        *_store(profile),
    ]
    if args.json:
        stdout().json_line([check.as_json() for check in checks])
    else:
        for check in checks:
            stdout().line(check.as_text())
    return ATTENTION if any(check.status is CheckStatus.FAILED for check in checks) else DONE


def _configuration(loaded: LoadedProfile) -> Check:
    where = str(loaded.file) if loaded.file else "environment"
    access = "read-only" if loaded.read_only else "may trade"
    return _passed("configuration", f"profile {loaded.name} from {where}, {loaded.profile.base_url}, {access}")


def _certificates(loaded: LoadedProfile, route: Route) -> Check:
    from tradetui.exchange.transport.http import usual_ca_file

    if loaded.profile.base_url.startswith("http://"):
        return _passed("certificates", "none needed: the exchange is on this machine, over http")
    return _passed("certificates", route.ca_file_text or str(usual_ca_file()))


def _key_log(loaded: LoadedProfile) -> list[Check]:
    file = loaded.environ.get("SSLKEYLOGFILE")
    if not file:
        return []
    finding = f"SSLKEYLOGFILE names {file}: tradetui writes nothing there, other programs write the keys of their TLS"
    return [_failed("TLS key log", finding, "Unset SSLKEYLOGFILE: who reads that file can read what was encrypted.")]


def _close_data_directory(loaded: LoadedProfile) -> Check:
    changes = close_data_dir(loaded)
    finding = permission_sentence(loaded, changes) or (
        f"{loaded.data_dir}, only you can look into it" if loaded.data_dir.exists() else f"none yet; {loaded.data_dir}"
    )
    return _check("data directory", finding, passed=not changes.left_open)


def _keys(loaded: LoadedProfile) -> list[Check]:
    own = profile_bindings(loaded.profile.keys)
    failed = [_failed("keys", f"keys.{trouble.id} {trouble.rule}", trouble.remedy) for trouble in own.troubles]
    changed = counted(len(own.taken), "keyboard binding")
    return failed or [_passed("keys", f"{changed} changed; `tradetui keys` lists all")]


def _theme(loaded: LoadedProfile) -> Check:
    theme = loaded.profile.theme
    if known := theme_named(theme):
        return _passed("theme", known)
    names = ", ".join(theme.name for theme in THEMES)
    return _failed("theme", f"there is no theme {theme!r}, {DEFAULT_THEME} is shown", f"Set theme to {names}.")


def _account(account: AccountIdentity, profile_uid: str | None, *, reached: bool, key_works: bool) -> Check:
    if profile_uid and account.known and account.uid != profile_uid:
        finding = (
            f"the exchange says that the API key belongs to UID {account.uid}, and the profile names {profile_uid}"
        )
        return _failed("account", finding, "Correct uid or the key in the profile; nothing is sent until then.")
    match account.origin:
        case "exchange" | "profile":
            return _passed("account", f"UID {account.uid}, from the {account.origin}")
        case "remembered" if reached:
            return _passed("account", f"UID {account.uid}, from an earlier session; the exchange does not give it now")
        case "remembered":
            return _unchecked("account", f"UID {account.uid}, from an earlier session; {_UNREACHABLE}")
    if not reached:
        return _unchecked("account", f"UID not known, so the account goes by its API key; {_UNREACHABLE}")
    if not key_works:
        return _unchecked("account", "not known while the check of the key fails")
    return _passed(
        "account",
        "the exchange does not report the UID and the profile has none, so the account goes by its API key: what is "
        "sent with another key of the account does not lock the symbol here. Set uid in each profile",
    )


def _store(profile: OpenProfile) -> list[Check]:
    if profile.loaded.profile.store is None:
        if not profile.journal.file.with_name(MARK_FILE).exists():
            return []
        return [_failed("store", JOINED, f"{REJOIN}.")]
    from tradetui.commands.session.store_checks import store_findings

    findings = asyncio.run(store_findings(profile))
    return [_check(line.name, line.finding, line.remedy, passed=not line.remedy) for line in findings]


def _journal(location: JournalLocation) -> Check:
    elsewhere: list[str] = []
    try:
        journal = existing_journal(location)
        if journal is None:
            return _journal_to_be(location.file)
        with closing(journal):
            journal.check()
            newest = journal.newest()
            if isinstance(journal, RegisteredJournal):
                held = journal.reconcile(Moment.now(SystemClock())).items()
                elsewhere = [f"{scope} is locked by {journal.path_of(holder)}" for scope, holder in held]
    except FileUnusable as problem:
        return _failed("journal", f"{problem.file}: {problem.reason}", f"{problem.remedy}.")
    except (sqlite3.Error, OSError) as problem:
        return _failed("journal", f"{location.file} cannot be read ({problem})", "Check the disk.")
    open_ones = sum(intent.state not in ENDED for intent in newest)
    finding = f"{location.file}, newest reversals and creations without an outcome: {open_ones or 'none'}"
    return _passed("journal", "; ".join([finding, *elsewhere]))


def _journal_to_be(file: Path) -> Check:
    there = next(folder for folder in file.parents if folder.exists())
    try:
        with TemporaryFile(dir=there):  # only a try shows whether the file system can be written
            return _passed("journal", f"none yet; it will be {file}")
    except OSError:
        why = "cannot be written" if there.is_dir() else "is no directory"
    return _failed("journal", f"{there} {why}, so nothing can be sent", "Make it writable, or set data_dir.")


def _terminal() -> Check:
    if not stdout().is_terminal:
        return _passed("terminal", "none here; the screen needs one")
    size = os.get_terminal_size()
    fits = size.columns >= 80 and size.lines >= 24
    notes = [f"{size.columns}x{size.lines}, TERM={os.environ.get('TERM', '')}", escape_note(os.environ)]
    return _check("terminal", "; ".join(filter(None, notes)), "Use at least 80x24.", passed=fits)


def _alert_check(name: str, result: AlertFinding) -> Check:
    return _check(name, result.finding, result.remedy, passed=not result.remedy)


async def _online(profile: OpenProfile) -> tuple[bool, list[Check]]:
    """Return whether the exchange answered, and every check that calls it."""
    loaded, route = profile.loaded, profile.route
    async with profile.reader() as client:
        product_types = profile.settings_without_key.product_types
        try:
            key = await _check_reply(
                "key", "the exchange takes it", lambda: client.futures.accounts(product_type=product_types[0])
            )
        except Unreachable as failure:
            return False, _unreached(profile, client, failure)
        through = f" through {route.proxy.address}" if route.proxy else ""
        connection = _passed("connection", f"{loaded.profile.base_url} answers{through}")
        if client.capabilities.account_refusal is not None:  # every further check would repeat this refusal
            return True, [connection, key, _clock(client), _address(client.budget.address_usage())]
        reads: dict[str, Callable[[ProductType], Awaitable[object]]] = {
            "orders": lambda product_type: client.futures.pending_orders(product_type=product_type),
            "fills": lambda product_type: client.futures.fills(product_type=product_type, limit=1),
            "triggers": lambda product_type: client.futures.triggers(
                product_type=product_type, plan_type=PlanType.NORMAL_PLAN, limit=1
            ),
        }
        checks = [connection, key]
        if client.is_unified:
            checks.append(_passed("account kind", UNIFIED_SENTENCE))
        for name, read in reads.items():
            try:
                answer = await _check_product_types(name, read, product_types)
                if answer.status is CheckStatus.OK or answer.finding != key.finding:  # the same finding is listed once
                    checks.append(answer)
            except Unreachable as failure:
                checks.append(_failed(name, failure.message, failure.remedy or ""))
        checks += [
            _alert_check("alerts", rules_finding(profile, await read_alert_evidence(client, profile))),
            await _permissions(client),
            _clock(client),
            _limits(client),
            _address(client.budget.address_usage()),
        ]
    return True, checks


def _unreached(profile: OpenProfile, client: ExchangeReader, failure: Unreachable) -> list[Check]:
    """Return the checks of an exchange that did not answer; rules of alerts are checked nevertheless."""
    finding = f"{profile.loaded.profile.base_url} was not reached, {_HOPS[failure.hop]}: {failure.message}"
    return [
        _failed("connection", finding, failure.remedy or ""),
        *(_unchecked(name) for name in ("key", "orders", "fills", "triggers", "permissions", "clock")),
        _alert_check("alerts", rules_finding(profile, AlertEvidence())),
        _limits(client),
        _address(client.budget.address_usage()),
    ]


async def _check_product_types(
    name: str, read: Callable[[ProductType], Awaitable[object]], product_types: Sequence[ProductType]
) -> Check:
    """Check one read of every product type, and name the product types if their results differ; raises Unreachable."""
    finding = "can be read with this API key"
    checks = [
        await _check_reply(name, finding, partial(read, product_type), product_types) for product_type in product_types
    ]
    if len({(check.status, check.finding) for check in checks}) == 1:
        return checks[0]
    failed = next((check for check in checks if check.status is not CheckStatus.OK), checks[0])
    findings = (f"{product_type} {check.finding}" for product_type, check in zip(product_types, checks, strict=True))
    return replace(failed, finding="; ".join(findings))


async def _check_reply(
    name: str, finding: str, read: Callable[[], Awaitable[object]], product_types: Sequence[ProductType] = ()
) -> Check:
    """Return the finding if every row of the reply is readable, else a failed check; raises Unreachable."""
    try:
        reply = await read()
    except Unreachable:
        raise
    except ExchangeError as problem:
        finding = f"{problem.reason}: {problem.message} ({problem.code or 'no code'})"
        return _failed(name, finding, problem.remedy or "")
    undecodable_rows = len(getattr(reply, "undecodable_rows", ()))
    if undecodable_rows:
        remedy = "Please report them; show --json prints the readable rows."
        return _failed(name, f"unreadable: {counted(undecodable_rows, 'row')}", remedy)
    left_out = left_out_sentence(product_types, getattr(reply, "left_out", ()))
    return _passed(name, "; ".join(filter(None, (finding, left_out))))


async def _permissions(client: ExchangeReader) -> Check:
    try:
        reply = await client.spot.account_info()
    except ExchangeError as problem:
        return _unchecked("permissions", f"not known: {problem.reason} ({problem.code or 'no code'})")
    account_info = reply.rows[0] if reply.rows else None
    if account_info is None or not account_info.authorities:
        return _unchecked("permissions", "not known: the exchange does not report them")
    finding = "; ".join(permission_texts(account_info.authorities))
    if may_withdraw(account_info.authorities):
        finding += ". WARNING: this key may withdraw; tradetui never needs that"
    return _passed("permissions", finding)


def _limits(client: ExchangeReader) -> Check:
    allowed = ", ".join(f"{name} {use.allowed}/s" for name, use in sorted(client.budget.usage().items()))
    return _passed("limits", allowed or "none used yet")


def _address(usage: AddressUsage) -> Check:
    finding = f"{usage.used:,} of {usage.allowed:,} calls a minute made from this address by all your processes"
    remedy = "End other programs of yours on this exchange, or raise address_share if nobody else calls from here."
    return _check("address", finding, remedy, passed=not usage.slowed)


def _clock(client: ExchangeReader) -> Check:
    offset = client.server_clock.offset_ms
    if offset is None:
        return _failed("clock", "no reply carried the exchange's time", "Check the address and the network.")
    latency = client.connection_status.latency_ms
    round_trip = "" if latency is None else f" from the exchange's, round trip {latency:.0f} ms"
    remedy = "Set this machine's clock; above 5 s nothing is sent."
    return _check("clock", f"{offset:+d} ms{round_trip}", remedy, passed=abs(offset) <= WARN_OFFSET_MS)


def _check(name: str, finding: str, remedy: str = "", *, passed: bool) -> Check:
    return Check(name, CheckStatus.OK if passed else CheckStatus.FAILED, finding, remedy)


def _passed(name: str, finding: str) -> Check:
    return Check(name, CheckStatus.OK, finding)


def _failed(name: str, finding: str, remedy: str) -> Check:
    return Check(name, CheckStatus.FAILED, finding, remedy)


def _unchecked(name: str, finding: str = _UNREACHABLE) -> Check:
    return Check(name, CheckStatus.NOT_CHECKED, finding)
