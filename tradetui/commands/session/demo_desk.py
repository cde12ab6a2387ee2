"""A desk on the embedded exchange in this process; imported only once the shell is on the screen."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tradetui.commands.session.build_trading_session import trading_session
from tradetui.desk.desk import Desk
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient, ExchangeReader, TradingClient
from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import InlineDisk, ThreadDisk
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.creation import MakeProfile

SHOWN_PRODUCT_TYPES = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)


def build_sandbox(seed: int, clock: Clock | None = None) -> Sandbox:
    clock = clock or SystemClock()
    return Sandbox(build_exchange_state(seed, clock.wall_ms()), clock.wall_ms, SandboxOptions(seed=seed))


def open_demo_desk(
    sandbox: Sandbox,
    name: str,
    *,
    read_only: bool,
    clock: Clock | None = None,
    disk: ThreadDisk | InlineDisk | None = None,
    data_dir: Path | None = None,
    account_admin: bool = True,
    make_profile: MakeProfile | None = None,
    product_types: tuple[ProductType, ...] = SHOWN_PRODUCT_TYPES,
) -> Desk:
    """A desk on an account of the embedded exchange, which shares nothing with any other program."""
    clock = clock or SystemClock()
    key = next(key for key in sandbox.exchange_state.keys if key.name == name)
    credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
    random = Random(sandbox.options.seed)
    budget = LocalBudget(
        share=1.0, account_kind="copy_trader" if key.kind.startswith("copy") else "ordinary", clock=clock, random=random
    )
    options: dict[str, Any] = {"clock": clock, "random": random, "budget": budget}
    writing = ExchangeClient if account_admin else TradingClient
    client = (ExchangeReader if read_only else writing)(credentials, app=sandbox, **options)
    settings = DeskSettings(
        name=name,
        environment=Environment.SANDBOX,
        product_types=product_types,
        uid=key.uid,
        account_kind="broker" if key.kind == "broker" else None,
        data_dir=data_dir,
        read_only=read_only,
    )
    trading = None
    if isinstance(client, TradingClient):
        destinations = None, make_profile
        trading = trading_session(client, settings, clock, random, disk or ThreadDisk(), lambda: destinations, key.uid)
    return Desk(client, settings, clock, random, trading, disk=disk or ThreadDisk())
