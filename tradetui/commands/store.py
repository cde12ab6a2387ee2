"""`tradetui store`: sets up the PostgreSQL that several machines on one account share, and says who works there."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final

from tradetui.commands.journal import unusable_journal
from tradetui.commands.process.console import ATTENTION, DONE, REFUSED, say, stdout
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.commands.session.store_checks import connected_store, older_copy
from tradetui.desk.account.account_storage import ACCOUNTS_DIR
from tradetui.desk.account.identity import normalised_address
from tradetui.desk.intents.journal.account_store import AccountStore, StoreLock, StoreRefusal, Writer
from tradetui.desk.intents.journal.registered_journal import open_journal
from tradetui.desk.intents.journal.store_mark import MARK_FILE, OLDER_COPY_REMEDY
from tradetui.desk.intents.journal.store_refusals import may_only_view
from tradetui.desk.intents.shared_account import SharedAccount
from tradetui.desk.intents.states import scope_name
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.errors import ConfigurationError, NoProfile
from tradetui.profiles.load import Flags, load
from tradetui.profiles.store_address import store_conninfo
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.sqlite_file import FileUnusable

_STAY: Final = {
    StoreRefusal.ALREADY_OPEN: "Have it settled or released first: tradetui journal shows it.",
    StoreRefusal.TRADING_LOCKED: "Remove your lock first: press L in tradetui.",
}
"""Why a machine may not leave yet, and what to do."""
_START_AGAIN: Final = (
    "If a session of this account runs on this machine, end it and start it again: it was started before this change."
)


def run(args: argparse.Namespace) -> int:
    """Do what is named: `init`, `join`, `leave`, `status`, `unlock` or `remove`."""
    if args.what == "init":
        return _init(args)
    if args.what == "unlock" and not args.target:
        raise ConfigurationError("whose lock?", key="unlock", remedy="Name the person: tradetui store unlock PERSON.")
    if args.what == "remove" and "@" not in (args.target or ""):
        remedy = "Name it as store status does: tradetui store remove PERSON@MACHINE."
        raise ConfigurationError("which machine?", key="remove", remedy=remedy)
    profile = open_privately(os.environ, Flags.of(args))
    if profile.loaded.profile.store is None:
        raise ConfigurationError(
            "is not set",
            location=str(profile.loaded.file or "environment"),
            key="store",
            remedy='Write store = "service=NAME" into the profile; see tradetui help machines.',
        )
    if args.what == "status":
        return asyncio.run(_status(profile, as_json=args.json))
    account = profile.account  # asks the exchange, in an event loop of its own
    if not account.known:
        raise ConfigurationError(
            "is not known: the exchange does not report it, and another machine could not know the account by it",
            location=str(profile.loaded.file or "environment"),
            key="uid",
            remedy="Set uid in the profile.",
        )
    match args.what:
        case "join":
            return asyncio.run(_join(profile))
        case "leave":
            return asyncio.run(_leave(profile))
        case "remove":
            return asyncio.run(_remove(profile, args.target))
    return asyncio.run(_unlock(profile, args.target))


def _init(args: argparse.Namespace) -> int:
    """Create the schema or bring it up to date, and print the grants that are still to be made."""
    setting, location = args.target, "the command line"
    if setting is None:
        try:
            loaded = load(os.environ, Flags.of(args))
        except NoProfile:
            loaded = None
        setting, location = (loaded.profile.store, str(loaded.file)) if loaded else (None, location)
    if setting is None:
        raise ConfigurationError(
            "which database?",
            key="store",
            remedy='Name it: tradetui store init "service=NAME", or set it in a profile.',
        )
    conninfo = store_conninfo(setting, os.environ, location)  # says so if the library is missing
    from tradetui.storage.postgres.schema import bring_up_to_date

    change = bring_up_to_date(conninfo)
    output = stdout()
    if change.before == change.after:
        output.line(f"The schema tradetui is of version {change.after}; nothing was changed.")
    else:
        before = f"brought from version {change.before}" if change.before else "created"
        output.line(f"The schema tradetui is {before}, now of version {change.after}.")
    if change.without_role:
        output.line("These people may not use it yet. Let psql run a line for each who shall:")
    for person in change.without_role:
        name = person.replace('"', '""')
        output.line(f'GRANT tradetui_trader TO "{name}";  -- or tradetui_viewer, who sends nothing')
    output.line('Next, on each machine: write store = "…" into the profile, then run tradetui store join.')
    return DONE


async def _join(profile: OpenProfile) -> int:
    """Enter this machine, and what is open in its journal; then no session of the account sends without the store."""
    account, machine = profile.account, profile.machine
    address, share = normalised_address(account.base_url), profile.share_in_store
    mark_file = profile.journal.file.with_name(MARK_FILE)
    had_joined = mark_file.exists()
    profile.make_installation()
    try:
        with closing(open_journal(profile.journal)) as journal:
            journal.check()
    except (FileUnusable, sqlite3.Error, OSError) as problem:
        raise unusable_journal(profile.journal, problem) from None
    async with connected_store(profile) as server:
        identity = account.name, address, account.environment, account.uid
        [joined] = await server.call("join_account", *identity, machine, share)
        store = AccountStore(server, account.name, machine)
        with closing(open_journal(profile.journal)) as journal:
            new_id = partial(secrets.token_hex, 16)
            shared = SharedAccount(
                store, lambda: journal, mark_file, InlineDisk(), SystemClock(), new_id, changed=lambda: None
            )
            await shared.look()
            own = {intent.scope: intent for intent in journal.open_intents()}
        if shared.went_back or shared.fault:
            say(f"tradetui: {shared.trouble}")
            return ATTENTION
        [state] = await server.call("account_state", account.name, machine)
        there = {row["id"] for row in state["open"]}
        writer = store.writer
    entered = [scope_name(scope) for scope, intent in own.items() if intent.id in there]
    output = stdout()
    output.line(
        f"{writer} has joined account {account.uid} in the store; open here: {', '.join(entered) or 'nothing'}."
    )
    if shared.may_only_view:
        output.line(may_only_view(writer.person))
    _name_others(state["machines"], writer)
    if joined["is_new"] or not had_joined:
        output.line(_START_AGAIN)
    for scope, holder in shared.open_elsewhere.items():
        if scope in own and own[scope].id not in there:
            here = f"{scope_name(scope)} is open here ({own[scope].id})"
            say(f"{here} and there ({holder}): it is entered once that has ended.")
    return DONE


async def _leave(profile: OpenProfile) -> int:
    account, machine = profile.account, profile.machine
    mark_file = profile.journal.file.with_name(MARK_FILE)
    machines = []
    try:
        async with connected_store(profile) as server:
            writer = Writer(server.person, machine)
            [state] = await server.call("account_state", account.name, machine)
            await server.call("leave_account", account.name, machine)
            machines = state["machines"]
    except StoreAway as away:
        say(f"tradetui: the store cannot be reached: {away}. If it is gone for good, delete {mark_file}.")
        return REFUSED
    except StoreRefused as refusal:
        if refusal.code in _STAY:
            say(f"tradetui: {refusal}. {_STAY[StoreRefusal(refusal.code)]}")
            return REFUSED
        if refusal.code != StoreRefusal.NOT_A_TRADER or "machine" not in refusal.detail:
            raise
        # It is not there any more.
    had_joined = mark_file.exists() or any(Writer(row["person"], row["machine"]) == writer for row in machines)
    mark_file.unlink(missing_ok=True)
    left = f"{writer} {'has left' if had_joined else 'had not joined'} account {account.uid}"
    stdout().line(f"{left}. Take store out of the profile: else nothing can be sent.")
    _name_others(machines, writer)
    if had_joined:
        stdout().line(_START_AGAIN)
    return DONE


def _name_others(machines: Sequence[dict[str, Any]], writer: Writer) -> None:
    others = [str(other) for row in machines if (other := Writer(row["person"], row["machine"])) != writer]
    if others:
        stdout().line(f"Others on this account: {', '.join(others)}.")


async def _unlock(profile: OpenProfile, person: str) -> int:
    """Remove another person's lock on trading, as an admin of the store."""
    account = profile.account
    async with connected_store(profile) as server:
        [unlocked] = await server.call("unlock_trading", account.name, person)
        [state] = await server.call("account_state", account.name, None)
    locks = [StoreLock(Writer(row["person"], row["machine"]), row["age_s"]) for row in state["locks"]]
    if unlocked["removed"]:
        stdout().line(
            f"The lock of {person} on account {account.uid} is removed for all machines. The machine on which {person} "
            "locked it stays locked until somebody presses L in tradetui there."
        )
    else:
        say(f"tradetui: {person} has not locked trading on account {account.uid}; nothing was changed.")
    for lock in locks:
        stdout().line(str(lock))
    return DONE if unlocked["removed"] else REFUSED


async def _remove(profile: OpenProfile, writer: str) -> int:
    """Remove a machine that is lost, as an admin of the store."""
    account = profile.account
    person, _, machine = writer.rpartition("@")
    async with connected_store(profile) as server:
        [answer] = await server.call("remove_machine", account.name, person, machine)
    if not answer["removed"]:
        say(f"tradetui: {writer} has not joined account {account.uid}; nothing was changed.")
        return REFUSED
    stdout().line(
        f"{writer} is removed from account {account.uid}. "
        "A symbol that it left locked is free once another machine has settled it."
    )
    return DONE


async def _status(profile: OpenProfile, *, as_json: bool) -> int:
    """Print server and schema, then each account: who is on it, what is open, who has locked trading, what is lost."""
    async with connected_store(profile) as server:
        accounts = await server.call("accounts")
        states = [(await server.call("account_state", row["name"], None))[0] for row in accounts]
        for account, state in zip(accounts, states, strict=True):
            mark_file = profile.loaded.data_dir / ACCOUNTS_DIR / account["name"] / MARK_FILE
            store = AccountStore(server, account["name"], profile.machine)
            state["older_copy"] = await older_copy(store, state["version"], mark_file)
    output = stdout()
    version = f"{server.server_version // 10_000}.{server.server_version % 10_000}"
    code = ATTENTION if any(state["older_copy"] for state in states) else DONE
    if as_json:
        rows = [account | state for account, state in zip(accounts, states, strict=True)]
        output.json_line({"version": version, "tls": server.tls, "role": server.role, "accounts": rows})
        return code
    output.line(
        f"PostgreSQL {version}, {server.tls or 'not encrypted'}, round trip {server.round_trip_s * 1000:.1f} ms, "
        f"{server.person} is {server.role or 'without a role'}"
    )
    for account, state in zip(accounts, states, strict=True):
        output.line(f"{account['environment']} {account['uid']} at {account['base_url']}")
        for row in state["machines"]:
            output.line(f"  {Writer(row['person'], row['machine'])}, last seen {row['seen_s']:.0f} s ago")
        for row in state["open"]:
            who, follower = Writer(row["person"], row["machine"]), ""
            if row["follower_person"]:
                follower = f", looked after by {Writer(row['follower_person'], row['follower_machine'])}"
            state_since = f"{row['state']} for {row['age_s']:.0f} s"
            output.line(f"  {scope_name(row['scope'])} {state_since} by {who}{follower}, {row['id']}")
        for row in state["locks"]:
            who = Writer(row["person"], row["machine"])
            output.line(f"  trading locked for {row['age_s']:.0f} s by {who}")
        if state["older_copy"]:
            output.line(f"  {state['older_copy']} {OLDER_COPY_REMEDY}")
    if not accounts:
        say("You have not joined an account yet: run tradetui store join.")
    return code
