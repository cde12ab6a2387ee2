"""What each reading endpoint takes, by the exchange's own account: names, words, numbers, spans and pages.

Written apart from the client's request models on purpose: a misreading there must not be one here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tradetui.sandbox.refusals import Refusal

DAY_MS: Final = 86_400_000
PRODUCT_TYPES: Final = frozenset(
    {"USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES", "SUSDT-FUTURES", "SCOIN-FUTURES", "SUSDC-FUTURES"}
)
GROUP_TYPES: Final = frozenset(
    {
        "deposit",
        "withdraw",
        "transaction",
        "transfer",
        "loan",
        "financial",
        "fait",
        "convert",
        "c2c",
        "pre_c2c",
        "on_chain",
        "strategy",
        "other",
    }
)
BUSINESS_TYPES: Final = (
    "deposit",
    "withdraw",
    "buy",
    "sell",
    "deduction of handling fee",
    "transfer-in",
    "transfer-out",
    "rebate rewards",
    "airdrop rewards",
    "USDT contract rewards",
    "mix contract rewards",
    "system lock",
    "user lock",
)
LIVE_BUSINESS_TYPES: Final = {
    **{word: word.upper().replace("-", "_").replace(" ", "_") for word in BUSINESS_TYPES},
    "deduction of handling fee": "DEDUCTION_HANDLING_FEE",
}
PLAN_TYPES: Final = frozenset({"normal_plan", "track_plan", "profit_loss"})
PLAN_STATUSES: Final = frozenset({"executed", "fail_execute", "cancelled"})


@dataclass(frozen=True, slots=True)
class Paging:
    """Default and greatest page; `capped` gives the greatest where more is asked."""

    default: int
    maximum: int
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """How far apart the ends may be, and what a missing one means."""

    days: int
    ends: Literal["free", "both-or-neither", "required"] = "free"
    missing: Literal["open", "three-months", "previous-day"] = "open"
    window_days: int | None = None
    after_binding: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """One endpoint's parameters: required ones, optional ones, the words some are limited to, paging and span."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    words: Mapping[str, frozenset[str]] | None = None
    paging: Paging | None = None
    span: Span | None = None


_THREE_MONTHS: Final = Span(90, missing="three-months", after_binding=True)
_PAGE: Final = Paging(100, 100)

RULES: Final[Mapping[str, Rules]] = {
    "spot.fills": Rules(
        optional=("symbol", "orderId"), paging=_PAGE, span=Span(90, window_days=90, after_binding=True)
    ),
    "broker.transfers": Rules(
        optional=("type",),
        paging=Paging(100, 100, capped=True),
        span=Span(7, ends="both-or-neither", missing="previous-day", window_days=90),
    ),
    "futures.triggers": Rules(
        required=("planType", "productType"),
        optional=("orderId", "clientOid", "planStatus", "symbol"),
        words={"planType": PLAN_TYPES, "planStatus": PLAN_STATUSES},
        paging=_PAGE,
        span=_THREE_MONTHS,
    ),
    "futures.accounts": Rules(required=("productType",)),
    "convert.history": Rules(paging=Paging(20, 100), span=Span(90, ends="required")),
    "broker.subaccount_email": Rules(required=("subUid",)),
    "spot.bills": Rules(
        optional=("coin", "groupType", "businessType"),
        words={"groupType": GROUP_TYPES},
        paging=Paging(100, 500),
        span=Span(90),
    ),
    "futures.pending_orders": Rules(
        required=("productType",),
        optional=("orderId", "clientOid", "symbol", "status"),
        words={"status": frozenset({"live", "partially_filled"})},
        paging=_PAGE,
        span=Span(90, missing="open"),
    ),
    "futures.fills": Rules(required=("productType",), optional=("orderId", "symbol"), paging=_PAGE, span=_THREE_MONTHS),
    "futures.positions": Rules(required=("productType",), optional=("marginCoin",)),
    "futures.order_detail": Rules(required=("symbol", "productType"), optional=("orderId", "clientOid")),
    "futures.live_triggers": Rules(
        required=("planType", "productType"),
        optional=("orderId", "clientOid", "symbol"),
        words={"planType": PLAN_TYPES},
        paging=_PAGE,
    ),
    "futures.account": Rules(required=("symbol", "productType", "marginCoin")),
    "futures.contracts": Rules(required=("productType",), optional=("symbol",)),
    "futures.ticker": Rules(required=("symbol", "productType")),
    "spot.account_info": Rules(),
    "public.time": Rules(),
}


def checked(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a read with empty ones left out, words in their own case; raises Refusal."""
    rules = RULES[name]
    values = {key: value for key, value in given.items() if value != ""}
    for key in rules.required:
        if key not in values:
            raise Refusal("40019", f"Parameter {key} cannot be empty")
    if "productType" in values:
        values["productType"] = values["productType"].upper()
        if values["productType"] not in PRODUCT_TYPES:
            raise Refusal("40020", "Parameter productType error")
    for key, words in (rules.words or {}).items():
        if key in values:
            match = next((word for word in words if word.lower() == values[key].lower()), None)
            if match is None:
                raise Refusal("40020", f"Parameter {key} error")
            values[key] = match
    for key in ("symbol", "coin"):
        if key in values:
            values[key] = values[key].upper()
    return values


def page_size(paging: Paging, values: Mapping[str, str]) -> int:
    """How many rows a page holds; raises Refusal."""
    text = values.get("limit")
    if text is None:
        return paging.default
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise Refusal("40020", "Parameter limit error")
    if int(text) > paging.maximum:
        if paging.capped:
            return paging.maximum
        raise Refusal("40058", f"The parameter limit exceeds the maximum value {paging.maximum}")
    return int(text)


def span_of(span: Span, values: Mapping[str, str], now_ms: int, bound_ms: int | None) -> tuple[int | None, int | None]:
    """Start and end of a read in milliseconds, None where open; raises Refusal."""
    start, end = _moment(values, "startTime"), _moment(values, "endTime")
    if span.ends == "required":
        for name, value in (("startTime", start), ("endTime", end)):
            if value is None:
                raise Refusal("40019", f"Parameter {name} cannot be empty")
    if span.ends == "both-or-neither" and (start is None) != (end is None):
        raise Refusal("40017", "Parameter verification failed startTime and endTime")
    if start is not None and end is not None:
        if start > end:
            raise Refusal("40707", "start time is greater than end time")
        if end - start > span.days * DAY_MS:
            raise Refusal("00001", f"The interval between startTime and endTime is greater than {span.days} days")
    if span.after_binding and bound_ms is not None and start is not None and start < bound_ms:
        raise Refusal("40408", "startTime is earlier than the binding time")
    if start is None and end is None and span.missing == "previous-day":
        midnight = now_ms - now_ms % DAY_MS
        start, end = midnight - DAY_MS, midnight - 1
    elif span.missing == "three-months":
        if start is not None and end is None:
            end = start + span.days * DAY_MS
        elif start is None:
            start = now_ms - span.days * DAY_MS
    if span.window_days is not None:
        oldest = now_ms - span.window_days * DAY_MS
        start = oldest if start is None else max(start, oldest)
    return start, end


def _moment(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise Refusal("40017", f"Parameter verification failed {name}")
    return int(text)
