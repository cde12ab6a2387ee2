"""`tradetui doctor`: checks what a session needs, each a line with its remedy."""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from tradetui.commands.bootstrap import flags_of, identity_of, journal_of, open_reader
from tradetui.commands.console import stdout
from tradetui.commands.data_directory import close_data_dir, closed_sentence
from tradetui.commands.exit_codes import ATTENTION, DONE
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.intents.journal import ENDED
from tradetui.desk.intents.journal_opening import existing_journal
from tradetui.desk.intents.registered_journal import RegisteredJournal
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import WARN_OFFSET_MS, Moment, SystemClock
from tradetui.exchange.errors import ExchangeError
from tradetui.exchange.rate_limit.address_quota import AddressUsage
from tradetui.profiles.load import LoadedProfile, load
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.ui.keys.profile_keys import own_keys
from tradetui.ui.themes import DEFAULT_THEME, THEMES, theme_named
from tradetui.wire.text.json_text import dump


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was checked, whether it is well, what was found, and what to do where it is not."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


def run(args: argparse.Namespace) -> int:
    """Print every check; exit code 3 when one failed. A configuration that cannot be loaded is reported as such."""
    loaded = load(os.environ, flags_of(args))
    private = _data_directory(loaded)
    account = identity_of(loaded)
    checks = [
        _configuration(loaded),
        private,
        *_keys(loaded),
        _theme(loaded),
        _account(account),
        _journal(loaded, account),
    ]
    checks.append(_terminal())
    checks += asyncio.run(_online(loaded))
    output = stdout()
    if args.json:
        rows = [{"check": c.name, "ok": c.ok, "found": c.found, "remedy": c.remedy} for c in checks]
        output.json(dump(rows))
        output.layout("\n")
    else:
        for check in checks:
            remedy = f"  ->  {check.remedy}" if check.remedy and not check.ok else ""
            output.line(f"{'ok  ' if check.ok else 'FAIL'}  {check.name:<16} {check.found}{remedy}")
    return DONE if all(check.ok for check in checks) else ATTENTION


def _configuration(loaded: LoadedProfile) -> Check:
    where = str(loaded.file) if loaded.file else "environment"
    access = "read-only" if loaded.read_only else "may trade"
    return Check("configuration", True, f"profile {loaded.name} from {where}, {loaded.profile.base_url}, {access}")


def _data_directory(loaded: LoadedProfile) -> Check:
    closed = close_data_dir(loaded)
    found = closed_sentence(loaded, closed) or (
        f"{loaded.data_dir}, only you can look into it" if loaded.data_dir.exists() else f"none yet; {loaded.data_dir}"
    )
    return Check("data directory", not closed.left, found)


def _keys(loaded: LoadedProfile) -> list[Check]:
    own = own_keys(loaded.profile.keys)
    failed = [Check("keys", False, f"keys.{each.id} {each.rule}", each.remedy) for each in own.troubles]
    return failed or [Check("keys", True, f"{len(own.taken) or 'none'} changed; `tradetui keys` lists them")]


def _theme(loaded: LoadedProfile) -> Check:
    theme = loaded.profile.theme
    if known := theme_named(theme):
        return Check("theme", True, known)
    names = ", ".join(each.name for each in THEMES)
    return Check("theme", False, f"there is no theme {theme!r}, {DEFAULT_THEME} is shown", f"Set theme to {names}.")


def _account(account: AccountIdentity) -> Check:
    if account.known:
        return Check("account", True, f"uid {account.uid}, told by the {account.origin}")
    return Check(
        "account",
        True,
        "the exchange does not tell the uid and it is not set; a hash of the key stands in, so what another key of "
        "this account does locks nothing here. Set uid in the profile of each",
    )


def _journal(loaded: LoadedProfile, account: AccountIdentity) -> Check:
    location = journal_of(loaded, account)
    elsewhere: list[str] = []
    try:
        journal = existing_journal(location)
        if journal is None:
            assert location.file is not None
            return _journal_to_be(location.file)
        with closing(journal):
            journal.check()
            newest = journal.newest()
            if isinstance(journal, RegisteredJournal):
                held = journal.reconcile(Moment.now(SystemClock())).items()
                elsewhere = [f"{scope} is locked by {journal.path_of(holder)}" for scope, holder in held]
    except FileUnusable as problem:
        return Check("journal", False, f"{problem.file}: {problem.reason}", f"{problem.remedy}.")
    except (sqlite3.Error, OSError) as problem:
        return Check("journal", False, f"{location.file} cannot be read ({problem})", "Check the disk.")
    open_ones = sum(intent.state not in ENDED for intent in newest)
    found = f"{location.file}, {open_ones or 'none'} of its newest intents not settled"
    return Check("journal", True, "; ".join([found, *elsewhere]))


def _journal_to_be(file: Path) -> Check:
    there = next(folder for folder in file.parents if folder.exists())
    try:
        with TemporaryFile(dir=there):  # what a file system takes is known only by trying
            return Check("journal", True, f"none yet; it will be {file}")
    except OSError:
        why = "cannot be written" if there.is_dir() else "is no directory"
    return Check("journal", False, f"{there} {why}, so nothing can be sent", "Make it writable, or set data_dir.")


def _terminal() -> Check:
    if not stdout().is_terminal:
        return Check("terminal", True, "none here; the screen needs one")
    size = os.get_terminal_size()
    fits = size.columns >= 80 and size.lines >= 24
    return Check(
        "terminal", fits, f"{size.columns}x{size.lines}, TERM={os.environ.get('TERM', '')}", "Use at least 80x24."
    )


async def _online(loaded: LoadedProfile) -> list[Check]:
    async with open_reader(loaded) as client:
        product_type = loaded.profile.product_types[0]
        key = await _asked("key", lambda: client.futures.accounts(product_type=product_type))
        if client.capabilities.account_refusal is not None:  # every other line would say the same
            return [key, _clock(client), _address(client.link.address_usage())]
        checks = [
            key,
            await _asked("orders", lambda: client.futures.pending_orders(product_type=product_type)),
            await _asked("fills", lambda: client.futures.fills(product_type=product_type, limit=1)),
            await _asked(
                "triggers", lambda: client.futures.triggers(product_type=product_type, plan_type="normal_plan", limit=1)
            ),
        ]
        checks.append(await _permissions(client))
        checks.append(_clock(client))
        allowed = ", ".join(f"{name} {use.allowed}/s" for name, use in sorted(client.link.usage().items()))
        checks.append(Check("limits", True, allowed))
        checks.append(_address(client.link.address_usage()))
    return checks


async def _asked(name: str, ask: Callable[[], Awaitable[object]]) -> Check:
    try:
        reply = await ask()
    except ExchangeError as problem:
        return Check(
            name, False, f"{problem.reason}: {problem.message} ({problem.code or 'no code'})", problem.remedy or ""
        )
    lost = len(getattr(reply, "lost", ()))
    if lost:
        return Check(
            name, False, f"{lost} rows cannot be read", "Please report them; show --json prints what can be read."
        )
    return Check(name, True, "answers")


async def _permissions(client: ExchangeReader) -> Check:
    try:
        reply = await client.spot.account_info()
    except ExchangeError as problem:
        return Check("permissions", True, f"the exchange does not tell them ({problem.code or problem.reason})")
    row = reply.rows[0] if reply.rows else None
    if row is None:
        return Check("permissions", True, "the exchange does not tell them")
    return Check("permissions", True, f"uid {row.user_id}, {', '.join(map(str, row.authorities))}")


def _address(usage: AddressUsage) -> Check:
    counted = f"{usage.used:,} of {usage.allowed:,} calls a minute used by your processes together"
    return Check(
        "address",
        not usage.slowed,
        counted,
        "End other programs of yours on this exchange, or raise address_share if nobody else calls from here.",
    )


def _clock(client: ExchangeReader) -> Check:
    offset = client.link.clock_offset_ms
    if offset is None:
        return Check("clock", False, "no reply told the exchange's time", "Check the address and the network.")
    latency = client.link.latency_ms
    found = (
        f"{offset:+d} ms from the exchange's, round trip {latency:.0f} ms" if latency is not None else f"{offset:+d} ms"
    )
    return Check("clock", abs(offset) <= WARN_OFFSET_MS, found, "Set this machine's clock; above 5 s nothing is sent.")
