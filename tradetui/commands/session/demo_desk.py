"""A desk on the embedded exchange in this process; imported only once the screen is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from pydantic import SecretStr

from tradetui.commands.session.build_trading_session import KeyDestinations, trading_session
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.archive.coverage import HOUR_MS
from tradetui.desk.archive.equity import CoinEquity, EquitySample
from tradetui.desk.desk import Desk
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient, ExchangeReader, TradingClient
from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.sandbox.app import Receive, Sandbox, SandboxOptions, Scope, Send
from tradetui.sandbox.gateway.faults import ConnectionDropped
from tradetui.sandbox.seed_accounts import EVERY_KIND, build_exchange_state, desk_accounts
from tradetui.sandbox.wallet_history import past_worth
from tradetui.storage.disk_thread import Disk, ThreadDisk
from tradetui.trading.contract_math import ZERO
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.product_types import ProductType

_LATE_MS: Final = 120_000
SHOWN_PRODUCT_TYPES = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)


AWAY_EVERY_S: Final = 90
AWAY_FOR_S: Final = 30


def build_sandbox(seed: int, clock: Clock | None = None, desk_of: int | None = None) -> Sandbox:
    """Build the exchange, with all its kinds of accounts or with those of a desk of so many accounts."""
    clock = clock or SystemClock()
    accounts = EVERY_KIND if desk_of is None else desk_accounts(desk_of)
    exchange_state = build_exchange_state(seed, clock.wall_ms(), accounts=accounts)
    return Sandbox(exchange_state, clock.wall_ms, SandboxOptions(seed=seed))


class ComesAndGoes:
    """The exchange as one account reaches it: after a minute it drops every call for half a minute, again and again."""

    def __init__(self, sandbox: Sandbox, clock: Clock) -> None:
        self._sandbox = sandbox
        self._clock = clock
        self._begun_s = clock.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (self._clock.monotonic() - self._begun_s) % AWAY_EVERY_S >= AWAY_EVERY_S - AWAY_FOR_S:
            raise ConnectionDropped("the exchange is away")
        await self._sandbox(scope, receive, send)


def presumed_account(settings: DeskSettings) -> AccountIdentity:
    """Return the account of these settings as the exchange will name it."""
    return AccountIdentity(settings.base_url, settings.exchange_environment, settings.uid or "", "profile")


def open_demo_desk(
    sandbox: Sandbox,
    name: str,
    *,
    read_only: bool,
    clock: Clock | None = None,
    new_disk: Callable[[], Disk] = ThreadDisk,
    data_dir: Path | None = None,
    account_admin: bool = True,
    key_destinations: Callable[[], KeyDestinations] = KeyDestinations,
    product_types: tuple[ProductType, ...] = SHOWN_PRODUCT_TYPES,
    with_past_equity: bool = False,
    permits: Budget | None = None,
) -> Desk:
    """Return a desk that shares nothing with other programs, on the account of the named key; ValueError without one.

    Nothing is kept without `data_dir`, and no profile is made of a created key without other `key_destinations`.
    `with_past_equity` adds equity from before the session, computed while it starts. `permits` are those of the rows of
    an overview, which the session shares.
    """
    key = next((key for key in sandbox.exchange_state.keys if key.name == name), None)
    if key is None:
        raise ValueError(f"the embedded exchange has no account {name!r}")
    clock, random = clock or SystemClock(), Random(sandbox.options.seed)
    # The budget's account kind sets its limits from the first call on. The settings' kind hides functions of other
    # kinds: only the broker's is set, so that other accounts show the exchange's refusals.
    kind = "copy_trader" if key.kind.startswith("copy") else "ordinary"
    settings = DeskSettings(
        name=name,
        environment=Environment.SANDBOX,
        product_types=product_types,
        uid=key.uid,
        account_kind="broker" if key.kind == "broker" else None,
        data_dir=data_dir,
        read_only=read_only,
    )
    client_class: type[ExchangeReader] = ExchangeReader
    if not read_only:
        client_class = ExchangeClient if account_admin else TradingClient
    account = presumed_account(settings).name
    budget = Budget(account=account, account_kind=kind, clock=clock, random=random, beside=permits)
    credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
    app = ComesAndGoes(sandbox, clock) if name == "comes-and-goes" else sandbox
    client = client_class(credentials, app=app, clock=clock, random=random, budget=budget)
    trading = None
    if isinstance(client, TradingClient):
        # A separate disk thread, because the trading session closes it while the desk still writes to its own.
        trading = trading_session(client, settings, clock, random, new_disk(), key_destinations)
    past_equity = partial(_past_equity, sandbox, key.uid, product_types) if with_past_equity else tuple
    return Desk(client, settings, clock, random, trading, disk=new_disk(), past_equity=past_equity)


def _past_equity(sandbox: Sandbox, uid: str, product_types: tuple[ProductType, ...]) -> Iterator[EquitySample]:
    """Yield samples as of a session that ran for ninety days up to the account's start, oldest first.

    They are close enough to leave no gap: every hour, then every second minute.
    """
    end_ms = sandbox.exchange_state.account(uid).built_ms
    week_ms = end_ms - 7 * DAY_MS
    hours = range((end_ms - 90 * DAY_MS) // HOUR_MS * HOUR_MS, week_ms, HOUR_MS)
    moments = (*hours, *range(-(-week_ms // _LATE_MS) * _LATE_MS, end_ms, _LATE_MS))
    return samples_before(sandbox, uid, product_types, moments)


def samples_before(
    sandbox: Sandbox, uid: str, product_types: tuple[ProductType, ...], moments: Iterable[int]
) -> Iterator[EquitySample]:
    """Yield the samples of an account at times (Unix ms) before its start, oldest first.

    Multi-assets mode has none, because there equity is the value of several coins.
    """
    account = sandbox.exchange_state.account(uid)
    if any(account.futures[product_type].assets for product_type in product_types):
        return iter(())
    return (
        EquitySample(
            at_ms,
            sum((coin.in_dollars for coin in worth), ZERO),
            sum((coin.unrealised * coin.in_dollars / coin.equity for coin in worth if coin.unrealised), ZERO),
            tuple(CoinEquity(coin.coin, coin.equity, coin.in_dollars, coin.unrealised) for coin in worth),
        )
        for at_ms, worth in past_worth(account, product_types, moments)
    )
