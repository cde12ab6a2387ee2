"""The base class of errors of a call, and the error of a request that is refused before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypedDict

from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.text import scrub

_LONGEST_VALUE = 80
ENDPOINT_LABELS: Final[Mapping[str, str]] = {
    "copytrading.create_api_key": "Copy trading key",
    "subaccounts.create_batch": "Sub-accounts",
    "spot.fills": "Spot fills",
    "broker.transfers": "Sub-account transfers",
    "futures.reverse": "Reversal",
    "futures.triggers": "Stops",
    "futures.accounts": "Accounts",
    "broker.create_subaccount": "Broker sub-account",
    "convert.history": "Convert history",
    "broker.subaccount_email": "Sub-account e-mail",
    "spot.bills": "Spot bills",
    "futures.pending_orders": "Orders",
    "futures.fills": "Fills",
    "futures.positions": "Positions",
    "futures.order_detail": "The order",
    "futures.live_triggers": "Waiting stops",
    "futures.account": "The account",
    "futures.subaccount_assets": "Sub-account assets",
    "futures.bills": "Futures bills",
    "futures.closed_positions": "Closed positions",
    "futures.contracts": "Contract rules",
    "futures.ticker": "The price",
    "futures.tickers": "Prices",
    "futures.funding_rates": "Funding rates",
    "spot.account_info": "The account's number",
    "public.time": "The exchange's clock",
    "unified.assets": "Accounts",
    "unified.settings": "The account's mode",
    "unified.key": "The account's number",
    "unified.positions": "Positions",
    "unified.orders": "Orders",
    "unified.fills": "Fills",
    "unified.triggers": "Stops",
    "unified.live_triggers": "Waiting stops",
    "unified.closed_positions": "Closed positions",
}
"""A trader's term for the rows of an endpoint: the title of their table, if there is one."""


class ErrorFields(TypedDict, total=False):
    """The arguments of every `ExchangeError` besides its message."""

    code: str | None
    endpoint: str | None
    http_status: int | None
    remedy: str | None


class ExchangeError(Exception):
    """A call did not return the requested result.

    `code` and `message` are the exchange's own if it answered, `endpoint` is the catalogue's name, `http_status` the
    reply's, `remedy` a sentence on what to do. No field holds a secret. `request_time` is the exchange's time in its
    refusal (Unix ms), None without a readable reply.
    """

    reason = "The exchange did not carry out the request"
    request_time: int | None = None

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        endpoint: str | None = None,
        http_status: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.endpoint = endpoint
        self.http_status = http_status
        self.remedy = remedy

    @property
    def sentence(self) -> str:
        """One sentence for display; `message` keeps the exchange's words as received."""
        message = scrub(self.message.strip().rstrip(".")) or "no reason given"
        where = f"{ENDPOINT_LABELS.get(self.endpoint, self.endpoint)}: " if self.endpoint else ""
        code = f" (code {self.code})" if self.code else ""
        return f"{where}{self.reason}: {message}{code}."

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}" if self.remedy else self.sentence


class InvalidRequest(ExchangeError):
    """A request breaks a rule of the interface; it is refused before anything is sent.

    `parameter` names the field, `rule` its rule, `value` the given value (shortened; a secret is `***`), and `remedy`
    what to do. Outside requests, `parameter` is a setting or an option of a command.
    """

    reason = "The request breaks a rule"

    def __init__(self, parameter: str, rule: str, value: object, remedy: str) -> None:
        self.parameter = parameter
        self.rule = rule
        self.value = _shown(value)
        super().__init__(f"{parameter}: {rule}; given: {self.value}", remedy=remedy)
        self.remedy: str = remedy

    @property
    def sentence(self) -> str:
        return f"{self.message}."

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.rule, self.value, self.remedy)


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if hasattr(value, "get_secret_value"):
        return "***"
    if isinstance(value, Decimal):
        return trimmed_digits(value)
    text = str(value)
    if not text.strip():
        return "nothing"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
