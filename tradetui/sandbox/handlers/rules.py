"""The parameters of every read, as the exchange documents them: names, words, numbers, spans and pages.

They are deliberately separate from the client's request models, so that a misreading there is not repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.request_values import required, whole_number, word
from tradetui.wire.exchange_time import DAY_MS

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
    **{documented: documented.upper().replace("-", "_").replace(" ", "_") for documented in BUSINESS_TYPES},
    "deduction of handling fee": "DEDUCTION_HANDLING_FEE",
}
TRANSFER_TYPES: Final = ("all", "deposit", "withdrawl")
LIVE_TRANSFER_TYPES: Final = {"withdrawl": "withdrawal"}
PLAN_TYPES: Final = frozenset({"normal_plan", "track_plan", "profit_loss"})
PLAN_STATUSES: Final = frozenset({"executed", "fail_execute", "cancelled"})
ORDER_STATUSES: Final = frozenset({"live", "partially_filled"})
_FUTURES_CATEGORIES: Final = frozenset({"USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES"})
_CATEGORIES: Final = _FUTURES_CATEGORIES | {"SPOT", "MARGIN"}
_STRATEGY_TYPES: Final = frozenset({"tpsl", "trigger"})
_PAGE_AND_SPAN: Final = ("limit", "idLessThan", "cursor", "startTime", "endTime")


class Paging(NamedTuple):
    """Default and maximum page size; if `capped`, a larger one gives the maximum instead of a refusal.

    `parameter` holds the id below which a page begins; `first` is its value for the first page.
    """

    default: int
    maximum: int
    capped: bool = False
    first: str | None = None
    parameter: Literal["idLessThan", "cursor"] = "idLessThan"


def page_size(paging: Paging, values: Mapping[str, str]) -> int:
    """Return the number of rows of a page; raises Refusal."""
    text = values.get("limit")
    if text is None:
        return paging.default
    size = whole_number(text)
    if not size:
        raise Refusal("40020", "Parameter limit error")
    if size > paging.maximum:
        if paging.capped:
            return paging.maximum
        raise Refusal("40058", f"The parameter limit exceeds the maximum value {paging.maximum}")
    return size


def page_before(paging: Paging, values: Mapping[str, str]) -> int | None:
    """Return the id below which the page begins, or None for the first page; raises Refusal.

    Ids grow with time, so the id of a row that has since left the book still marks its page.
    """
    text = values.get(paging.parameter)
    if text is None or text == paging.first:
        return None
    before = whole_number(text)
    if before is None:
        raise Refusal("40020", f"Parameter {paging.parameter} error")
    return before


class Span(NamedTuple):
    """The rule of one endpoint's startTime and endTime, at most `days` apart.

    `ends` is whether they are free, go together, or are required. `one_missing` is the default of a missing one, up to
    `days` from the other; `both_missing` is the default of both. `window_days` limits how far back can be read.
    `after_binding` means that a managed sub-account cannot read before its binding.
    """

    days: int
    ends: Literal["free", "both-or-neither", "required"] = "free"
    one_missing: Literal["open", "three-months", "from-other"] = "open"
    both_missing: Literal["open", "three-months", "previous-day"] = "open"
    window_days: int | None = None
    after_binding: bool = False


def span_of(span: Span, values: Mapping[str, str], now_ms: int, bound_ms: int | None) -> tuple[int | None, int | None]:
    """Return start and end of a read in milliseconds, both included, None if open; raises Refusal."""
    start, end = _moment(values, "startTime"), _moment(values, "endTime")
    if span.ends == "required":
        required(values, "startTime", "endTime")
    if span.ends == "both-or-neither" and (start is None) != (end is None):
        raise Refusal("40017", "Parameter verification failed startTime and endTime")
    if start is not None and end is not None:
        if start > end:
            raise Refusal("40707", "start time is greater than end time")
        if end - start > span.days * DAY_MS:
            raise Refusal("00001", f"startTime and endTime interval cannot be greater than {span.days} days")
    bound = bound_ms if span.after_binding else None
    if bound is not None and start is not None and start < bound:
        raise Refusal("40408", "startTime is earlier than the binding time")
    start, end = _with_defaults(span, start, end, now_ms)
    oldest = now_ms - span.window_days * DAY_MS if span.window_days is not None else None
    return max((lower_bound for lower_bound in (start, oldest, bound) if lower_bound is not None), default=None), end


def _with_defaults(span: Span, start: int | None, end: int | None, now_ms: int) -> tuple[int | None, int | None]:
    longest_ms = span.days * DAY_MS
    if start is None and end is None:
        if span.both_missing == "previous-day":
            midnight = now_ms - now_ms % DAY_MS
            return midnight - DAY_MS, midnight - 1
        return (now_ms - longest_ms if span.both_missing == "three-months" else None), None
    if span.one_missing == "three-months":
        if end is None and start is not None:
            end = start + longest_ms
        elif start is None:
            start = now_ms - longest_ms
    if span.one_missing == "from-other":
        start = end - longest_ms if start is None and end is not None else start
        end = start + longest_ms if end is None and start is not None else end
    return start, end


def _moment(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    moment = whole_number(text)
    if moment is None:
        raise Refusal("40017", f"Parameter verification failed {name}")
    return moment


class Rules(NamedTuple):
    """One endpoint's parameters: required, optional, limited to certain words; paging and span."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    choices: Mapping[str, frozenset[str]] | None = None
    paging: Paging | None = None
    span: Span | None = None


_THREE_MONTHS: Final = Span(90, one_missing="three-months", both_missing="three-months", after_binding=True)
_PAGE: Final = Paging(100, 100)
_CURSOR_PAGE: Final = Paging(100, 100, parameter="cursor")
_THIRTY_DAYS: Final = Span(30, one_missing="from-other", window_days=90)

RULES: Final[Mapping[str, Rules]] = {
    "spot.fills": Rules(
        optional=("symbol", "orderId"), paging=_PAGE, span=Span(90, window_days=90, after_binding=True)
    ),
    "broker.transfers": Rules(
        optional=("type",),
        paging=Paging(100, 100, capped=True, first="1"),
        span=Span(7, ends="both-or-neither", both_missing="previous-day", window_days=90),
    ),
    "futures.triggers": Rules(
        required=("planType", "productType"),
        optional=("orderId", "clientOid", "planStatus", "symbol"),
        choices={"planType": PLAN_TYPES, "planStatus": PLAN_STATUSES},
        paging=_PAGE,
        span=_THREE_MONTHS,
    ),
    "futures.accounts": Rules(required=("productType",)),
    "futures.subaccount_assets": Rules(required=("productType",)),
    "convert.history": Rules(paging=Paging(20, 100), span=Span(90, ends="required")),
    "broker.subaccount_email": Rules(required=("subUid",)),
    "spot.bills": Rules(
        optional=("coin", "groupType", "businessType"),
        choices={"groupType": GROUP_TYPES},
        paging=Paging(100, 500),
        span=Span(90),
    ),
    "futures.pending_orders": Rules(
        required=("productType",),
        optional=("orderId", "clientOid", "symbol", "status"),
        choices={"status": ORDER_STATUSES},
        paging=_PAGE,
        # An order rests until it is cancelled: without times even one older than three months is pending.
        span=Span(90, one_missing="three-months"),
    ),
    "futures.fills": Rules(required=("productType",), optional=("orderId", "symbol"), paging=_PAGE, span=_THREE_MONTHS),
    "futures.bills": Rules(
        required=("productType",),
        optional=("coin", "businessType"),
        paging=Paging(20, 100),
        span=Span(30, window_days=90),
    ),
    "futures.closed_positions": Rules(
        required=("productType",), optional=("symbol",), paging=Paging(20, 100), span=_THREE_MONTHS
    ),
    "futures.positions": Rules(required=("productType",), optional=("marginCoin",)),
    "futures.order_detail": Rules(required=("symbol", "productType"), optional=("orderId", "clientOid")),
    "futures.live_triggers": Rules(
        required=("planType", "productType"),
        optional=("orderId", "clientOid", "symbol"),
        choices={"planType": PLAN_TYPES},
        paging=_PAGE,
    ),
    "futures.account": Rules(required=("symbol", "productType", "marginCoin")),
    "futures.contracts": Rules(required=("productType",), optional=("symbol",)),
    "futures.ticker": Rules(required=("symbol", "productType")),
    "futures.tickers": Rules(required=("productType",)),
    "futures.funding_rates": Rules(required=("productType",), optional=("symbol",)),
    "spot.account_info": Rules(),
    "public.time": Rules(),
    "unified.assets": Rules(),
    "unified.settings": Rules(),
    "unified.key": Rules(),
    "unified.positions": Rules(
        required=("category",),
        optional=("symbol", "posSide"),
        choices={"category": _FUTURES_CATEGORIES, "posSide": frozenset({"long", "short"})},
    ),
    "unified.orders": Rules(
        optional=("category", "symbol"), choices={"category": _CATEGORIES}, paging=_CURSOR_PAGE, span=Span(90)
    ),
    "unified.fills": Rules(
        optional=("category", "orderId"), choices={"category": _CATEGORIES}, paging=_CURSOR_PAGE, span=_THIRTY_DAYS
    ),
    "unified.triggers": Rules(
        required=("category",),
        optional=("type",),
        choices={"category": _FUTURES_CATEGORIES, "type": _STRATEGY_TYPES},
        paging=_CURSOR_PAGE,
        span=_THIRTY_DAYS,
    ),
    "unified.live_triggers": Rules(
        required=("category",),
        optional=("type",),
        choices={"category": _FUTURES_CATEGORIES, "type": _STRATEGY_TYPES},
    ),
    "unified.closed_positions": Rules(
        required=("category",),
        optional=("symbol",),
        choices={"category": _FUTURES_CATEGORIES},
        paging=_CURSOR_PAGE,
        span=_THIRTY_DAYS,
    ),
}


def checked(name: str, parameters: Mapping[str, str], *, live: bool) -> dict[str, str]:
    """Return the parameters of a read without empty ones, words as documented; raises Refusal."""
    rules = RULES[name]
    taken = {*rules.required, *rules.optional, *_PAGE_AND_SPAN}
    # Unknown parameters are ignored, as on the live exchange.
    values = {parameter: value for parameter, value in parameters.items() if value != "" and parameter in taken}
    required(values, *rules.required)
    for parameter, choices in (rules.choices or {}).items():
        if parameter in values:
            values[parameter] = word(parameter, values[parameter], choices)
    if name == "broker.transfers":
        values["type"] = _documented_word("type", values.get("type", "all"), TRANSFER_TYPES, LIVE_TRANSFER_TYPES, live)
    if name == "spot.bills" and "businessType" in values:
        values["businessType"] = _documented_word(
            "businessType", values["businessType"], BUSINESS_TYPES, LIVE_BUSINESS_TYPES, live
        )
    if "productType" in values:
        values["productType"] = word("productType", values["productType"], PRODUCT_TYPES)
    for parameter in ("symbol", "coin", "marginCoin"):
        if parameter in values:
            values[parameter] = values[parameter].upper()
    return values


def _documented_word(name: str, text: str, choices: Iterable[str], live_values: Mapping[str, str], live: bool) -> str:
    """Translate a word of the dialect in use into the documented one; raises Refusal."""
    documented_values = {live_values.get(choice, choice) if live else choice: choice for choice in choices}
    return documented_values[word(name, text, documented_values)]
