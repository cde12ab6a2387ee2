"""Where catalogue and models differ from the interface document, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import SecretStr

from tests.wire.interface_document import Document, DocumentedEndpoint, listed_values
from tradetui.sandbox.seed_accounts import MAX_KEYS, MAX_SUBACCOUNTS
from tradetui.wire import enums as v
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.exchange_time import DAY_MS, Ends, Missing
from tradetui.wire.models.futures import FeeDetail
from tradetui.wire.models.futures_accounts import Asset
from tradetui.wire.models.subaccounts import MOST_IPS, MOST_PER_REQUEST, VirtualSubaccountRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.parameter import Count, Label, Listed, Milliseconds, Parameter, Passphrase, Word
from tradetui.wire.requests.request import Request
from tradetui.wire.signing import HmacSigner, signed_headers

# Marked required by the table, and said by the same table to be left out in one-way mode; the mode decides.
REQUIRED_BY_MODE = {(5, "size")}

# Words of replies: endpoint, field -> the vocabulary that holds them.
REPLY_ENUMS: dict[tuple[int, str], type[StrEnum]] = {
    (2, "permList"): v.VirtualPermission,
    (3, "tradeScope"): v.TradeScope,
    (4, "type"): v.TransferType,
    (4, "status"): v.TransferStatus,
    (6, "planType"): v.PlanType,
    (6, "planStatus"): v.PlanStatus,
    (6, "side"): v.Side,
    (6, "posSide"): v.PositionSide,
    (6, "marginMode"): v.MarginMode,
    (6, "tradeSide"): v.TradeSide,
    (6, "posMode"): v.PositionMode,
    (7, "assetMode"): v.AssetMode,
    (12, "status"): v.OrderStatus,
    (12, "side"): v.Side,
    (12, "posSide"): v.PositionSide,
    (12, "marginMode"): v.MarginMode,
    (12, "tradeSide"): v.TradeSide,
    (12, "posMode"): v.PositionMode,
    (12, "orderSource"): v.OrderSource,
    (13, "side"): v.Side,
    (13, "tradeSide"): v.TradeSide,
    (13, "posMode"): v.PositionMode,
    (13, "tradeScope"): v.TradeScope,
}

# Words of replies that decide nothing: shown as they came, held by no vocabulary.
SHOWN_AS_THEY_CAME = {
    (1, "permissions"),
    (4, "subType"),
    (6, "triggerType"),
    (6, "enterPointSource"),
    (6, "orderType"),
    (6, "stopSurplusTriggerType"),
    (6, "stopLossTriggerType"),
    (8, "status"),
    (8, "permList"),
    (12, "force"),
    (12, "enterPointSource"),
    (12, "orderType"),
    (12, "reduceOnly"),
    (13, "enterPointSource"),
}

# Words the vocabularies hold beyond the tables: from requests, from prose, or from the live exchange.
BEYOND: dict[type[StrEnum], set[str]] = {
    v.PlanType: {"profit_loss", "profit_plan", "loss_plan", "moving_plan", "pos_profit", "pos_loss"},
    v.PlanStatus: {"fail_trigger", "live", "not_trigger", "executing"},
    v.OrderStatus: {"filled", "canceled", "cancelled", "rejected", "expired"},
}

STATES: dict[str, type[StrEnum]] = {
    "Futures pending order status (status)": v.OrderStatus,
    "Historical trigger order status (planStatus)": v.PlanStatus,
    "Sub-account deposit/withdrawal status (status)": v.TransferStatus,
}


def differences(document: Document) -> Iterator[str]:
    """Every difference found."""
    ours = {endpoint.number: endpoint for endpoint in CATALOGUE.values() if endpoint.number is not None}
    if set(ours) != set(document.endpoints):
        yield f"endpoints {sorted(document.endpoints)} are documented, {sorted(ours)} are ours"
    for number, documented in document.endpoints.items():
        endpoint = ours.get(number)
        if endpoint is None:
            continue
        for what in _endpoint(documented, endpoint, document):
            yield f"endpoint {number}: {what}"
    yield from _vocabulary(document)
    yield from _conventions(document)
    yield from _other_limits(document, ours)


def _endpoint(documented: DocumentedEndpoint, endpoint: Endpoint, document: Document) -> Iterator[str]:
    if (documented.method, documented.path) != (endpoint.method, endpoint.path):
        yield f"{documented.title}, {documented.method} {documented.path} is documented, {endpoint} is ours"
    yield from _rate(document.limits.get(documented.number, ""), endpoint)
    request: type[Request[Any]] = VirtualSubaccountRequest if documented.number == 2 else endpoint.request
    names = [row["Parameter"] for row in documented.parameters]
    if names != [parameter.name for parameter in request.parameters.values()]:
        yield f"parameters {names} are documented, {[p.name for p in request.parameters.values()]} are ours"
    for row in documented.parameters:
        try:
            parameter = request.parameters[row["Parameter"]]
        except KeyError:
            continue
        for what in _parameter(documented, row, parameter, endpoint):
            yield f"{row['Parameter']}: {what}"
    yield from _time(documented, endpoint)
    yield from _reply(documented, endpoint, document)


def _rate(text: str, endpoint: Endpoint) -> Iterator[str]:
    rates = [int(number) for number in re.findall(r"(\d+) (?:requests?|times?)/second", text)]
    copy_trader = endpoint.limit.copy_trader
    if rates != [endpoint.limit.calls] + ([copy_trader] if copy_trader is not None else []):
        yield f"limit {text!r} is documented, {endpoint.limit} is ours"
    if (copy_trader is not None) != ("copy trading traders" in text):
        yield "the copy traders' limit differs"
    if ("UID" in text or "user ID" in text or "average users" in text) != (endpoint.limit.scope == "uid"):
        yield "the limit is counted otherwise"


def _parameter(
    documented: DocumentedEndpoint, row: dict[str, str], parameter: Parameter, endpoint: Endpoint
) -> Iterator[str]:
    rule = row["Rule"]
    required = row["Required"] == "Yes"
    if required != parameter.required and (documented.number, parameter.name) not in REQUIRED_BY_MODE:
        yield f"required {row['Required']} is documented, {parameter.required} is ours"
    if (documented.number, parameter.name) in REQUIRED_BY_MODE and "one-way mode lets it be omitted" not in rule:
        yield "the rule no longer lets one-way mode omit it"
    if parameter.name == "productType":
        return
    if isinstance(parameter, (Word, Listed)) and parameter.choices:
        if listed_values(rule) != list(parameter.choices):
            yield f"words {listed_values(rule)} are documented, {list(parameter.choices)} are ours"
    elif re.search(r"Allowed values|spelled this way", rule):
        yield f"a list of words is documented: {rule}"
    if isinstance(parameter, Milliseconds) != ("Unix ms" in rule):
        yield "documented as a time or not, and ours is otherwise"
    if isinstance(parameter, Passphrase) != ("8 to 32 characters" in rule):
        yield "the passphrase's rule differs"
    if isinstance(parameter, Label):
        yield from _label(rule, parameter)
    if parameter.name == "ipList" and f"at most {MOST_IPS} entries" not in rule:
        yield f"{MOST_IPS} addresses are ours, documented is: {rule}"
    if parameter.name == "subAccountName" and "8 English letters" not in rule:
        yield "the alias is documented otherwise"
    if isinstance(parameter, Count):
        default = re.search(r"[Dd]efault (\d+)", rule)
        maximum = re.search(r"[Mm]aximum (\d+)", rule)
        page = endpoint.page
        if default is None or maximum is None or page is None:
            yield f"no default or maximum is documented: {rule}"
        elif (int(default[1]), int(maximum[1])) != (page.default, page.maximum) or (
            parameter.default,
            parameter.maximum,
        ) != (page.default, page.maximum):
            yield f"default {default[1]} and maximum {maximum[1]} are documented, ours are {page}"
        if parameter.capped != ("entries are returned" in rule):
            yield "what happens over the maximum is documented otherwise"
    if parameter.name == "idLessThan":
        yield from _cursor(rule, endpoint)


def _label(rule: str, parameter: Label) -> Iterator[str]:
    exactly = re.search(r"length (\d+)", rule)
    below = re.search(r"length below (\d+)", rule)
    longest = int(exactly[1]) if exactly else int(below[1]) - 1 if below else None
    if longest != parameter.longest:
        yield f"{rule!r} is documented, at most {parameter.longest} is ours"


def _cursor(rule: str, endpoint: Endpoint) -> Iterator[str]:
    page = endpoint.page
    assert page is not None
    first = re.search(r"default value (\S+?)\.", rule)
    if (first[1] if first else None) != page.first:
        yield f"the first page is documented otherwise: {rule}"
    named = re.search(r"tradeId|billId|endId", rule)
    if (named[0] if named else "endId") != page.cursor_field:
        yield f"{rule!r} is documented, {page.cursor_field} is ours"


def _time(documented: DocumentedEndpoint, endpoint: Endpoint) -> Iterator[str]:
    rule = endpoint.time
    has_times = any(row["Parameter"] == "startTime" for row in documented.parameters)
    if has_times != (rule is not None):
        yield "times are documented or ours, not both"
    if rule is None:
        return
    text = documented.text
    span = (
        7 * DAY_MS
        if "A range over 7 days" in text
        else 90 * DAY_MS
        if re.search(r"(exceed|startTime is) 90 days", text) or "Maximum span three months" in text
        else None
    )
    if rule.span_ms != span:
        yield f"span {span} is documented, {rule.span_ms} is ours"
    if (rule.both is Ends.BOTH_OR_NEITHER) != ("both given or both empty" in text):
        yield "both or neither is documented otherwise"
    if (rule.missing is Missing.THREE_MONTHS) != ("end is three months after the start" in text):
        yield "a missing end is documented otherwise"
    if (rule.missing is Missing.PREVIOUS_DAY) != ("previous day 00:00 to 23:59" in text):
        yield "missing ends are documented otherwise"
    if rule.from_binding != ("cannot be earlier than the binding time" in text):
        yield "the start of managed sub-accounts is documented otherwise"
    window = re.search(r"within (?:the last )?90 days", text)
    if (rule.window_ms == 90 * DAY_MS) != (window is not None):
        yield "how far back it tells is documented otherwise"


def _reply(documented: DocumentedEndpoint, endpoint: Endpoint, document: Document) -> Iterator[str]:
    says = documented.text.partition("Response data:")[2]
    listed = re.search(r"with (\w+) \(Array of", says)
    if (listed[1] if listed else None) != endpoint.rows_key:
        yield f"rows under {listed[1] if listed else 'data'} are documented, {endpoint.rows_key} is ours"
    if endpoint.rows_key is not None and "endId" not in says:
        yield "endId is not documented"
    resource = document.resources.get(documented.number)
    fields = [row["Field"] for row in resource.tables[0]] if resource else []
    if sorted(fields) != sorted(endpoint.row.names()):
        odd = set(fields) ^ set(endpoint.row.names())
        yield f"fields differ: {sorted(odd)}"
    required = {field.alias for field in endpoint.row.model_fields.values() if field.is_required()} - set(fields)
    if required:
        yield f"fields are needed that are not documented: {sorted(map(str, required))}"
    for row in resource.tables[0] if resource else []:
        yield from _reply_field(documented.number, row, endpoint)
    if resource is not None and "feeDetail object has the fields" in resource.text:
        yield from _nested(resource.text.partition("has the fields")[2], FeeDetail.names())


def _reply_field(number: int, row: dict[str, str], endpoint: Endpoint) -> Iterator[str]:
    name, text = row["Field"], row["Description"]
    vocabulary = REPLY_ENUMS.get((number, name))
    if vocabulary is not None:
        known = {word.lower() for word in vocabulary}
        unknown = [word for word in listed_values(text) if word.lower() not in known]
        if unknown:
            yield f"{name}: {unknown} are documented and not in {vocabulary.__name__}"
    if name == "feeDetail" and number == 13:
        yield from _nested(text, FeeDetail.names())
    if name == "assetList":
        yield from _nested(text, Asset.names())
    secret = name in ("secret", "secretKey")
    if secret != (name in endpoint.row.secrets):
        yield f"{name}: secret or not differs"
    field = next((field for field in endpoint.row.model_fields.values() if field.alias == name), None)
    if field is not None and secret and SecretStr.__name__ not in str(field.annotation):
        yield f"{name}: its text could be shown"


def _nested(text: str, names: tuple[str, ...]) -> Iterator[str]:
    documented = re.findall(r"(\w+) \(String", text) if "(String" in text else []
    if sorted(set(documented) | ({"feeCoin"} & set(names))) != sorted(names):
        yield f"nested fields {documented} are documented, {names} are ours"


def _vocabulary(document: Document) -> Iterator[str]:
    documented: dict[type[StrEnum], set[str]] = {}
    for (number, name), vocabulary in REPLY_ENUMS.items():
        resource = document.resources.get(number)
        for row in resource.tables[0] if resource else []:
            if row["Field"] == name:
                documented.setdefault(vocabulary, set()).update(
                    word.lower() for word in listed_values(row["Description"])
                )
    for vocabulary, documented_values in documented.items():
        ours = {word.lower() for word in vocabulary} - BEYOND.get(vocabulary, set())
        if ours - documented_values:
            yield f"{vocabulary.__name__}: {sorted(ours - documented_values)} are ours and not documented"
    for title, vocabulary in STATES.items():
        ours = {word.value for word in vocabulary} - BEYOND.get(vocabulary, set())
        if ours != set(document.states.get(title, ())):
            yield f"{title}: {document.states.get(title)} are documented, {sorted(ours)} are ours"


def _conventions(document: Document) -> Iterator[str]:
    if document.product_types != list(ProductType):
        yield f"product types {document.product_types} are documented"
    headers = signed_headers(
        HmacSigner(SecretStr("s")), api_key="k", passphrase=SecretStr("p"), timestamp="1", method="GET", path="/"
    )
    if set(document.headers) != set(headers):
        yield f"headers {document.headers} are documented, {sorted(headers)} are ours"
    if document.envelope != ["code", "msg", "requestTime", "data"]:
        yield f"envelope {document.envelope} is documented"


def _other_limits(document: Document, ours: dict[int, Endpoint]) -> Iterator[str]:
    expected = {
        "Elements per batch request (endpoint 2)": str(MOST_PER_REQUEST),
        "Sub-accounts per user (endpoint 2)": str(MAX_SUBACCOUNTS),
        "API keys per sub-account (endpoint 2)": str(MAX_KEYS),
        "ipList entries (endpoint 2)": str(MOST_IPS),
        "Passphrase length": "8 to 32 characters (endpoints 1, 2)",
    }
    for item, limit in expected.items():
        if document.other_limits.get(item) != limit:
            yield f"{item}: {document.other_limits.get(item)} is documented, {limit} is ours"
    pages = document.other_limits.get("limit", "")
    for default, maximum, numbers in re.findall(r"default (\d+), max (\d+) \(([\d, ]+)\)", pages, re.I):
        for number in numbers.split(", "):
            page = ours[int(number)].page
            if page is None or (page.default, page.maximum) != (int(default), int(maximum)):
                yield f"endpoint {number}: default {default}, max {maximum} is documented, {page} is ours"
    spans = document.other_limits.get("Time span start to end", "")
    for length, numbers in re.findall(r"(90 days|7 days|three months) \(([\d, ]+)\)", spans):
        for number in numbers.split(", "):
            rule = ours[int(number)].time
            days = 7 if length == "7 days" else 90
            if rule is None or rule.span_ms != days * DAY_MS:
                yield f"endpoint {number}: {length} is documented, {rule} is ours"
