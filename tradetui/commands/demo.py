"""`tradetui demo`: the whole program on its own embedded exchange, in this process."""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tradetui.commands.process.console import DONE, USAGE, needs_terminal
from tradetui.profiles.errors import ConfigurationError
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import is_key, picture, run_app
from tradetui.ui.settings.ui_settings import KEY_READS_ONLY, ProfileChoice, ProfileSummary, UiSettings
from tradetui.ui.terminal.drawn_once import terminal_abilities
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradetui.commands.session.demo_overview import DemoOverview
    from tradetui.desk.desk import Desk
    from tradetui.desk.overview.overview import Overview
    from tradetui.desk.overview.watched_account import AccountSource
    from tradetui.sandbox.app import Sandbox

_ACCOUNTS = (
    "hedge",
    "one-way",
    "coin",
    "copy-new",
    "copy-old",
    "broker",
    "managed",
    "at-limits",
    "read-only",
    "unified",
    "multi-assets",
    "isolated",
)


def run(args: argparse.Namespace) -> int:
    """Show the program on the screen, or draw one picture of it into a file; raises ConfigurationError."""
    if args.unified and args.profile not in (None, "unified"):
        raise ConfigurationError(
            f"--unified opens the account unified, not {args.profile!r}",
            location="--unified, --profile",
            remedy="Leave one of them out.",
        )
    accounts = _ACCOUNTS if args.accounts is None else _desk_names(args)
    name = "unified" if args.unified else args.profile or accounts[0]
    if name not in accounts:
        raise ConfigurationError(
            f"the demo has no account {name!r}", location="--profile", remedy=f"It has {', '.join(accounts)}."
        )
    _refuse_flags(args)
    product_types = _product_types(args.product_type)
    if unknown := [key for key in args.keys if not is_key(key)]:
        raise ConfigurationError(
            f"there is no key {unknown[0]!r}",
            location="--keys",
            remedy="Give single characters or Textual's names, such as R,tab,enter,question_mark,ctrl+p,wait:500.",
        )
    settings = demo_settings(args.seed, name, read_only=args.read_only, product_types=product_types, accounts=accounts)
    if args.accounts is not None and args.profile is None:
        settings = replace(settings, begins_with_overview=True)
    if args.screenshot is not None:
        return _write_picture(TradeApp(settings), args)
    if not needs_terminal(os.environ):
        return USAGE
    return run_app(TradeApp(replace(settings, terminal=terminal_abilities(os.environ))))


def _write_picture(app: TradeApp, args: argparse.Namespace) -> int:
    as_text = args.screenshot.suffix.lower() == ".txt"
    drawn = asyncio.run(picture(app, args.size, args.after, args.keys, as_text=as_text))
    try:
        args.screenshot.write_text(drawn, encoding="utf-8")
    except OSError as problem:
        raise ConfigurationError(
            f"cannot be written: {problem.strerror}", location=str(args.screenshot), key="--screenshot"
        ) from None
    return app.return_code or DONE


def _refuse_flags(args: argparse.Namespace) -> None:
    no_network = "the demo runs on its own embedded exchange, without a network"
    on_a_network = "with a profile for an exchange on the network"
    on_the_sandbox = "on a profile for tradetui sandbox"
    for flag, value, rule, instead in (
        ("--base-url", args.base_url, no_network, on_a_network),
        ("--proxy", args.proxy, no_network, on_a_network),
        ("--config", args.config, "the demo reads no configuration", on_the_sandbox),
        ("--data-dir", args.data_dir, "the demo keeps nothing: its exchange is another one each time", on_the_sandbox),
    ):
        if value is not None:
            raise ConfigurationError(rule, location=flag, remedy=f"Leave {flag} out, or run tradetui {instead}.")


def _product_types(text: str | None) -> tuple[ProductType, ...] | None:
    """Return the product types to show, None for all; raises ConfigurationError for one that the demo does not have."""
    if text is None:
        return None
    from tradetui.commands.session.demo_desk import SHOWN_PRODUCT_TYPES

    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    if not names or len(set(names)) < len(names) or not set(names) <= set(SHOWN_PRODUCT_TYPES):
        raise ConfigurationError(
            f"{text!r} does not name product types of the demo, each once",
            location="--product-type",
            remedy=f"Use one or more of {', '.join(SHOWN_PRODUCT_TYPES)}, with commas between them.",
        )
    return tuple(map(ProductType, names))


def _desk_names(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the names of a desk's accounts; raises ConfigurationError for a number of accounts it cannot have."""
    from tradetui.sandbox.seed_accounts import MOST_OF_A_DESK, desk_accounts

    if args.unified or not 2 <= args.accounts <= MOST_OF_A_DESK:
        raise ConfigurationError(
            "--accounts and --unified exclude each other"
            if args.unified
            else f"{args.accounts} accounts are not shown",
            location="--accounts",
            remedy=f"Give a number from 2 to {MOST_OF_A_DESK}, without --unified.",
        )
    return tuple(account.name for account in desk_accounts(args.accounts))


def demo_settings(
    seed: int,
    chosen: str,
    *,
    read_only: bool,
    product_types: tuple[ProductType, ...] | None = None,
    accounts: tuple[str, ...] = _ACCOUNTS,
) -> UiSettings:
    """The settings of the demo's screen; with other than its usual accounts it has an overview of them."""
    access = "monitor" if read_only else "trade"
    exchange = _Exchange(seed, product_types, None if accounts is _ACCOUNTS else accounts, access)
    return UiSettings(
        environment="SANDBOX",
        access="MONITOR" if read_only else "TRADE",
        profiles=[
            ProfileChoice(
                name,
                partial(exchange.open_desk, name, read_only),
                summary=partial(exchange.summary, name, access),
            )
            for name in accounts
        ],
        chosen=accounts.index(chosen),
        overview=None if accounts is _ACCOUNTS else exchange,
    )


class _Exchange:
    """The program's only embedded exchange, built when its first desk or its overview is opened."""

    def __init__(
        self, seed: int, product_types: tuple[ProductType, ...] | None, desk: tuple[str, ...] | None, access: str
    ) -> None:
        self._seed = seed
        self._product_types = product_types
        self._desk = desk
        self._access = access
        self._sandbox: Sandbox | None = None
        self._several: DemoOverview | None = None
        self._folder: TemporaryDirectory[str] | None = None
        """What the sessions of a desk of several accounts keep until the program ends."""

    def summary(self, name: str, mode: str) -> ProfileSummary:
        keys = () if self._sandbox is None else self._sandbox.exchange_state.keys
        key = next((key for key in keys if key.name == name), None)
        if key is not None and mode == "trade" and "futures-write" not in key.permissions:
            mode = KEY_READS_ONLY
        return ProfileSummary("embedded exchange", None if key is None else key.uid, mode)

    def open_desk(self, name: str, read_only: bool) -> Desk:
        from tradetui.commands.session.demo_desk import SHOWN_PRODUCT_TYPES, open_demo_desk

        several = None if self._desk is None else self._of_several()
        return open_demo_desk(
            self._built(),
            name,
            read_only=read_only,
            product_types=self._product_types or SHOWN_PRODUCT_TYPES,
            with_past_equity=True,
            data_dir=None if self._folder is None else Path(self._folder.name),
            permits=None if several is None else several.permits,
        )

    def overview(self) -> Overview:
        return self._of_several().overview()

    def overview_sources(self) -> Sequence[AccountSource]:
        return self._of_several().overview_sources()

    def _of_several(self) -> DemoOverview:
        sandbox = self._built()
        if self._several is None:
            from tradetui.commands.session.demo_overview import DemoOverview
            from tradetui.exchange.clock import SystemClock

            folder = self._folder = TemporaryDirectory(prefix="tradetui-", ignore_cleanup_errors=True)
            self._several = DemoOverview(sandbox, self._desk or (), self._access, SystemClock(), Path(folder.name))
        return self._several

    def _built(self) -> Sandbox:
        from tradetui.commands.session.demo_desk import build_sandbox

        if self._sandbox is None:
            self._sandbox = build_sandbox(self._seed, desk_of=None if self._desk is None else len(self._desk))
        return self._sandbox
