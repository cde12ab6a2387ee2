"""The model of a profile: the one source of every setting's name, rule, default and explanation.

`config.example.toml` and the messages about wrong values are made from it. `description` says what a setting means, and
`title` what its `pattern` demands.
"""

from __future__ import annotations

import zoneinfo
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from tradetui.exchange.transport.proxy import parse_proxy
from tradetui.exchange.transport.transport import parse_base_url
from tradetui.profiles.strict_settings import StrictSettings
from tradetui.wire.decimal_text import typed_number
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.profiles.alert_entry import AlertRule

    AlertRules = tuple[AlertRule, ...]
else:
    AlertRules = tuple[Any, ...]  # read by `_alerts`; the first paint does not wait for the import of AlertRule

_NAME_IN_STORE = r"^[0-9A-Za-z._-]{1,64}$"
_NAME_IN_STORE_RULE = "1 to 64 letters, digits, ., - or _"
PROXY_OF_ENVIRONMENT = "environment"
NO_PROXY = "none"


def check_base_url(value: str) -> str:
    """Return the address without a trailing slash.

    Raises ValueError if it is not https (http is for loopback only), has no host, or holds a user name, path or query.
    """
    try:
        return parse_base_url(value).url
    except InvalidRequest as problem:
        raise ValueError(f"must be {problem.rule}. {problem.remedy.rstrip('.')}") from None


def _checked_command(values: tuple[str, ...]) -> tuple[str, ...]:
    if values and not values[0].strip():
        raise ValueError("must begin with the name of a program")
    if any("\0" in value for value in values):
        raise ValueError("must hold no NUL character, which no program can be given")
    return values


_Command = Annotated[tuple[str, ...], AfterValidator(_checked_command)]
_PollSeconds = Annotated[float, Field(ge=0.5, le=3600)]


class CredentialSource(StrictSettings):
    """The one source of the API key, its secret and its passphrase."""

    source: Literal["environment", "command", "keyring", "file"] = Field(
        default="environment",
        description="environment (variables), command (its output), keyring (the system's), or file (mode 0600)",
    )
    prefix: str = Field(
        default="TRADETUI",
        pattern=r"^[A-Z][A-Z0-9_]*$",
        title="capitals, digits and _, such as TRADETUI",
        description="environment: read from PREFIX_API_KEY, PREFIX_API_SECRET and PREFIX_PASSPHRASE",
    )
    command: _Command = Field(
        default=(),
        description="command: a program and its arguments, run without a shell; it prints a JSON object with api_key, "
        "secret and passphrase, or these as three lines (not a PEM, which has many)",
    )
    service: str = Field(
        default="tradetui", min_length=1, description="keyring: the service name; the user name is the profile's"
    )
    path: Path | None = Field(
        default=None,
        description="file: a TOML file of mode 0600 with api_key, secret and passphrase, which `tradetui init` writes",
    )
    rsa: bool = Field(default=False, description="true when the key is an RSA key and the secret its private key (PEM)")

    @model_validator(mode="after")
    def _names_its_source(self) -> CredentialSource:
        if self.source == "file" and self.path is None:
            raise ValueError('source = "file" needs path')
        if self.source == "command" and not self.command:
            raise ValueError('source = "command" needs command, a list of a program and its arguments')
        return self


class Intervals(StrictSettings):
    """Seconds between the end of one poll and the start of the next while the panel is shown."""

    fills: _PollSeconds = Field(default=1.0, description="futures fills")
    positions: _PollSeconds = Field(default=2.0, description="positions")
    orders: _PollSeconds = Field(default=2.0, description="pending orders")
    accounts: _PollSeconds = Field(default=5.0, description="futures accounts")
    triggers: _PollSeconds = Field(default=10.0, description="stops and trigger orders")


class Profile(StrictSettings):
    """One account as its owner set it up: its address, its credentials, and its limits."""

    base_url: Annotated[str, AfterValidator(check_base_url)] = Field(
        description="the exchange's address: https, or http on this machine only; there is no default"
    )
    proxy: SecretStr = Field(
        default=SecretStr(PROXY_OF_ENVIRONMENT),
        description="http://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before the host if it wants them "
        "(this file then has mode 0600); environment (HTTPS_PROXY, ALL_PROXY, NO_PROXY); or none; never used for "
        "this machine",
    )
    environment: Literal["live", "demo"] = Field(
        default="live", description="demo sends the header of demo trading with a demo key; anything else is LIVE"
    )
    uid: str | None = Field(
        default=None,
        pattern=r"^[0-9A-Za-z_-]{1,64}$",
        title="1 to 64 letters, digits, - or _",
        description="the account's user ID, for an exchange that does not report it; if it reports another one, "
        "nothing is sent; profiles with one UID share rate limits, journal, lock and archive",
    )
    account_kind: Literal["unknown", "ordinary", "copy_trader", "broker"] = Field(
        default="unknown", description="a copy trader's reversal is limited to 1 call a second; unknown counts as one"
    )
    mode: Literal["monitor", "trade"] = Field(
        default="monitor", description="monitor cannot send anything; trade may reverse positions"
    )
    interface: Literal["auto", "classic", "unified"] = Field(
        default="auto",
        description="how the account is read: auto asks the exchange; a unified account is only watched, and the "
        "profile's mode is then monitor",
    )
    product_types: tuple[str, ...] = Field(
        default=("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES"),
        min_length=1,
        description="the product types shown: " + ", ".join(ProductType),
    )
    locale: str = Field(
        default="en-US",
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        title="a language such as en-US or zh-CN",
        description="language of the exchange's messages",
    )
    intervals: Intervals = Field(default=Intervals(), description="seconds between polls, by panel")
    budget_share: float = Field(
        default=0.5, gt=0, le=1, description="share of each rate limit used; other programs share the account's UID"
    )
    address_share: float = Field(
        default=0.8,
        ge=0.01,
        le=1,
        description="share of the 6,000 calls a minute that the exchange allows a network address, for all your "
        "processes together; lower it if other people or machines call from the same address",
    )
    store: str | None = Field(
        default=None,
        min_length=1,
        description="the PostgreSQL that several machines on this account share, as libpq's conninfo or service, "
        "without a password; `tradetui help machines` says more",
    )
    machine: str | None = Field(
        default=None,
        pattern=_NAME_IN_STORE,
        title=_NAME_IN_STORE_RULE,
        description="this machine's name in the store, a different one on each; the host's name when not given",
    )
    egress: str | None = Field(
        default=None,
        pattern=_NAME_IN_STORE,
        title=_NAME_IN_STORE_RULE,
        description="with a store: a name for the network address from which this machine calls the exchange, the same "
        "on all machines behind it; the machine's name when not given",
    )
    max_reversal_size: Decimal | None = Field(
        default=None, gt=0, description="the largest size of a reversal, in the contract's coin (BTC for BTCUSDT)"
    )
    max_reversal_value: Decimal | None = Field(
        default=None, gt=0, description="the largest value of a reversal, in the coin of the price (USDT for BTCUSDT)"
    )
    symbols: tuple[Annotated[str, AfterValidator(str.upper)], ...] = Field(
        default=(), description="symbols that may be reversed; empty allows every one"
    )
    typed_above: Decimal | None = Field(
        default=None,
        ge=0,
        description="value, in the coin of the price (USDT for BTCUSDT), above which symbol and side must be typed",
    )
    reversal_trade_side: Literal["Open", "open", "Close", "close"] = Field(
        default="Open", description="tradeSide of a reversal in hedge mode, as sent"
    )
    one_way_side: Literal["omit", "held", "order"] = Field(
        default="omit",
        description="side of a reversal in one-way mode: omit it, send the held side (buy for long), or the order's",
    )
    account_admin: bool = Field(
        default=False, description="true shows the screens that create sub-accounts and API keys"
    )
    start_locked: bool | None = Field(
        default=None,
        description="start with trading locked; when not given, a LIVE session starts locked and others do not",
    )
    subaccount_rows: bool = Field(
        default=True,
        description="false keeps sub-accounts without a profile, which a main account's key may read, out of the "
        "overview",
    )
    theme: str = Field(default="tradetui-dark", min_length=1, description="the screen's theme")
    timezone: str = Field(default="utc", description="utc, local, or a name such as Europe/Berlin")
    figures: Literal["rounded", "exact"] = Field(
        default="rounded",
        description="rounded: money with 2 decimals, prices and sizes with those of their contract; exact: every digit",
    )
    mouse: bool = Field(
        default=True, description="false leaves the mouse to the terminal, so that its own selection works"
    )
    reduced_motion: bool = Field(
        default=False, description="true keeps the overview from underlining for a moment what has changed"
    )
    alert_command: _Command = Field(
        default=(),
        description="a program and its arguments, run without a shell for alerts to command, with the event as JSON on "
        "its standard input; it may take 9 s and does not see the API key",
    )
    alert_commands_a_minute: int = Field(
        default=10, ge=1, le=600, description="the most runs of alert_command in a minute"
    )
    desktop_notification: Literal["auto", "osc9", "osc777"] = Field(
        default="auto",
        description="the terminal sequence for a notification: osc9, osc777, or auto (by the terminal's name)",
    )
    alerts_defaults: bool = Field(
        default=True,
        description="alerts of fills, triggers, cancelled stops, a lost link and unknown outcomes, each to line and "
        "bell; false removes them",
    )
    alerts: AlertRules = Field(
        default=(),
        description="further alerts, a list; an alert of the same event as a default one replaces it",
    )
    keys: dict[str, str] = Field(
        default_factory=dict, description="key bindings by id, as printed by `tradetui keys`; several keys with commas"
    )
    data_dir: Path | None = Field(
        default=None, description="where archive, journal and state are kept; the user's data directory when not given"
    )
    credentials: CredentialSource = Field(default=CredentialSource(), description="where the API key comes from")

    @property
    def only_reads(self) -> bool:
        """Whether nothing may be sent, by the mode or since the account is a unified one."""
        return self.mode == "monitor" or self.interface == "unified"

    @field_validator("proxy")
    @classmethod
    def _proxy(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value() not in (PROXY_OF_ENVIRONMENT, NO_PROXY):
            parse_proxy(value.get_secret_value())
        return value

    @field_validator("product_types")
    @classmethod
    def _product_types(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        upper = tuple(value.upper() for value in values)
        for value in upper:
            if value not in tuple(ProductType):
                raise ValueError(f"must be among {', '.join(ProductType)}")
        if len(set(upper)) != len(upper):
            raise ValueError("must name each product type once")
        if len({ProductType(value).is_demo for value in upper}) > 1:
            raise ValueError("must not name product types of demo money beside real ones")
        return upper

    @field_validator("max_reversal_size", "max_reversal_value", "typed_above", mode="before")
    @classmethod
    def _limit(cls, value: object) -> object:
        if isinstance(value, str) and typed_number(value) is None:
            raise ValueError("must be a number")
        return value

    @field_validator("alerts", mode="before")
    @classmethod
    def _alerts(cls, entries: object, info: ValidationInfo) -> object:
        if not entries:
            return ()
        # Most profiles have no list, and the first paint waits for every import before it.
        from tradetui.profiles.alert_entry import checked_rules

        # `alert_command` is declared above and so already validated; if it broke its rule, that is the error to report.
        return checked_rules(entries, has_command=bool(info.data.get("alert_command", True)))

    @field_validator("timezone")
    @classmethod
    def _timezone(cls, value: str) -> str:
        if value.lower() in ("utc", "local"):
            return value.lower()
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("must be utc, local, or a time zone of this machine such as Europe/Berlin") from None
        return value
