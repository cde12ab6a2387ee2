"""`tradetui demo`: the whole program on its own embedded exchange, in this process."""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tradetui.commands.process.console import DONE, USAGE, needs_terminal
from tradetui.profiles.errors import ConfigurationError
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import is_key, picture, run_app
from tradetui.ui.settings.ui_settings import KEY_READS_ONLY, ProfileChoice, ProfileSummary, UiSettings
from tradetui.ui.terminal.drawn_once import terminal_abilities
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
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
    name = "unified" if args.unified else args.profile or _ACCOUNTS[0]
    if name not in _ACCOUNTS:
        raise ConfigurationError(
            f"the demo has no account {name!r}", location="--profile", remedy=f"It has {', '.join(_ACCOUNTS)}."
        )
    _refuse_flags(args)
    product_types = _product_types(args.product_type)
    if unknown := [key for key in args.keys if not is_key(key)]:
        raise ConfigurationError(
            f"there is no key {unknown[0]!r}",
            location="--keys",
            remedy="Give single characters or Textual's names, such as R,tab,enter,question_mark,ctrl+p,wait:500.",
        )
    settings = demo_settings(args.seed, name, read_only=args.read_only, product_types=product_types)
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


def demo_settings(
    seed: int, chosen: str, *, read_only: bool, product_types: tuple[ProductType, ...] | None = None
) -> UiSettings:
    exchange = _Exchange(seed, product_types)
    return UiSettings(
        environment="SANDBOX",
        access="MONITOR" if read_only else "TRADE",
        profiles=[
            ProfileChoice(
                name,
                partial(exchange.open_desk, name, read_only),
                summary=partial(exchange.summary, name, "monitor" if read_only else "trade"),
            )
            for name in _ACCOUNTS
        ],
        chosen=_ACCOUNTS.index(chosen),
    )


class _Exchange:
    """The program's only embedded exchange, built when its first desk is opened."""

    def __init__(self, seed: int, product_types: tuple[ProductType, ...] | None) -> None:
        self._seed = seed
        self._product_types = product_types
        self._sandbox: Sandbox | None = None

    def summary(self, name: str, mode: str) -> ProfileSummary:
        keys = () if self._sandbox is None else self._sandbox.exchange_state.keys
        key = next((key for key in keys if key.name == name), None)
        if key is not None and mode == "trade" and "futures-write" not in key.permissions:
            mode = KEY_READS_ONLY
        return ProfileSummary("embedded exchange", None if key is None else key.uid, mode)

    def open_desk(self, name: str, read_only: bool) -> Desk:
        from tradetui.commands.session.demo_desk import SHOWN_PRODUCT_TYPES, build_sandbox, open_demo_desk

        if self._sandbox is None:
            self._sandbox = build_sandbox(self._seed)
        shown = self._product_types or SHOWN_PRODUCT_TYPES
        return open_demo_desk(self._sandbox, name, read_only=read_only, product_types=shown, with_past_equity=True)
