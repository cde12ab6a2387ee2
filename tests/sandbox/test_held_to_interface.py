"""The sandbox's own rules against the interface document: its tables are parsed, its sentences are tried both ways."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Answered, Caller
from tests.wire.interface_document import Document, listed_values, parse
from tradetui.sandbox.handlers.rules import (
    BUSINESS_TYPES,
    GROUP_TYPES,
    ORDER_STATUSES,
    PLAN_STATUSES,
    PLAN_TYPES,
    PRODUCT_TYPES,
    RULES,
    TRANSFER_TYPES,
)
from tradetui.sandbox.handlers.writes import LONGEST_NOTE, MAX_ADDRESSES, MAX_BATCH
from tradetui.sandbox.seed_accounts import MAX_KEYS, MAX_SUBACCOUNTS
from tradetui.wire.endpoints.catalogue import CATALOGUE

BY_NUMBER = {endpoint.number: endpoint for endpoint in CATALOGUE.values() if endpoint.number is not None}
READS = {number: endpoint for number, endpoint in BY_NUMBER.items() if not endpoint.writes}
USDT = {"productType": "USDT-FUTURES"}
WEEK = {"startTime": str(NOW_MS - 7 * DAY_MS), "endTime": str(NOW_MS)}
MONTHS = {"startTime": str(NOW_MS - 90 * DAY_MS), "endTime": str(NOW_MS)}
PLAN = {**USDT, "planType": "normal_plan"}
COPY = {"passphrase": "Passphrase9"}
VIRTUAL = {"subAccountName": "abcdefgh", "passphrase": "Passphrase9", "label": "note"}
SUB = {"subaccountName": "new@broker.example"}
REVERSAL = {**USDT, "symbol": "BTCUSDT", "marginCoin": "USDT", "size": "0.01", "side": "buy", "tradeSide": "open"}


@pytest.fixture(scope="module")
def document() -> Document:
    path = os.environ.get("TRADETUI_INTERFACE")
    if path is None:
        pytest.skip("TRADETUI_INTERFACE does not say where the interface document is")
    return parse(Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", READS)
def test_every_parameter_of_a_read_is_known(document: Document, number: int) -> None:
    rules = RULES[READS[number].name]
    known = {*rules.required, *rules.optional}
    required = set(rules.required)
    if rules.paging:
        known |= {"limit", "idLessThan"}
    if rules.span:
        known |= {"startTime", "endTime"}
        required |= {"startTime", "endTime"} if rules.span.ends == "required" else set()
    listed = document.endpoints[number].parameters
    assert known == {row["Parameter"] for row in listed}
    assert required == {row["Parameter"] for row in listed if row["Required"] == "Yes"}


@pytest.mark.parametrize("number", [number for number in READS if RULES[READS[number].name].paging])
def test_pages_and_spans(document: Document, number: int) -> None:
    rules = RULES[READS[number].name]
    rules_of_parameters = {row["Parameter"]: row["Rule"] for row in document.endpoints[number].parameters}
    paging = rules.paging
    assert paging is not None and rules.span is not None
    default = re.search(r"default (\d+)", rules_of_parameters["limit"], re.I)
    maximum = re.search(r"maximum (\d+)", rules_of_parameters["limit"], re.I)
    assert default and maximum
    assert (paging.default, paging.maximum) == (int(default[1]), int(maximum[1]))
    assert paging.capped == ("When over" in rules_of_parameters["limit"])
    first = re.search(r"default value (\d+)", rules_of_parameters["idLessThan"])
    assert paging.first == (first[1] if first else None)
    text = document.endpoints[number].text
    days = re.search(r"(?:span|range|interval)[^.|]*? (\d+) days", text)
    months = "three months" in text
    assert months or days
    assert rules.span.days == (int(days[1]) if days else 90)
    assert (rules.span.one_missing == "three-months") == months
    assert rules.span.after_binding == ("binding time" in text)
    assert (rules.span.window_days == 90) == ("within the last 90 days" in text or "within 90 days" in text)


def test_words(document: Document) -> None:
    def of(number: int, name: str) -> set[str]:
        return set(
            listed_values(next(r["Rule"] for r in document.endpoints[number].parameters if r["Parameter"] == name))
        )

    assert set(document.product_types) == PRODUCT_TYPES
    assert of(11, "groupType") == GROUP_TYPES
    assert of(11, "businessType") == set(BUSINESS_TYPES)
    assert of(6, "planStatus") == PLAN_STATUSES
    assert of(12, "status") == ORDER_STATUSES
    assert {word.removesuffix(" (default)") for word in of(4, "type")} == set(TRANSFER_TYPES)
    assert of(6, "planType") == PLAN_TYPES


def test_other_limits(document: Document) -> None:
    limits = {item: int(text) for item, text in document.other_limits.items() if text.isdecimal()}
    assert limits == {
        "Elements per batch request (endpoint 2)": MAX_BATCH,
        "Sub-accounts per user (endpoint 2)": MAX_SUBACCOUNTS,
        "API keys per sub-account (endpoint 2)": MAX_KEYS,
        "ipList entries (endpoint 2)": MAX_ADDRESSES,
    }
    assert f"length {LONGEST_NOTE}" in document.endpoints[2].text


@dataclass(frozen=True)
class Sentence:
    """A sentence of the document, as it stands there, with one call it allows and others it forbids."""

    number: int
    text: str
    allowed: tuple[str, Any]
    forbidden: tuple[tuple[str, Any, str], ...] = ()


def letters(number: int) -> str:
    return chr(97 + number) * 8


SENTENCES = (
    Sentence(1, "8 to 32 characters, English letters and numbers", ("copy-new", {"passphrase": "aB345678"})),
    Sentence(
        1,
        "8 to 32 characters",
        ("copy-new", {"passphrase": "x" * 32}),
        tuple(
            ("copy-new", {"passphrase": text}, "40070")
            for text in ("x" * 7, "x" * 33, "pass word", "pass-word1", "ä" * 9)
        ),
    ),
    Sentence(
        1,
        "Only for the new version of copy traders",
        ("copy-new", COPY),
        (("copy-old", COPY, "31901"), ("hedge", COPY, "40732"), ("at-limits", COPY, "31902")),
    ),
    Sentence(
        2,
        "at most 5 elements per request",
        ("hedge", [{**VIRTUAL, "subAccountName": letters(n)} for n in range(5)]),
        (("hedge", [{**VIRTUAL, "subAccountName": letters(n)} for n in range(6)], "40017"),),
    ),
    Sentence(
        2,
        "8 English letters",
        ("hedge", [{**VIRTUAL, "subAccountName": "ABCDefgh"}]),
        tuple(
            ("hedge", [{**VIRTUAL, "subAccountName": text}], "40055") for text in ("abcdefg", "abcdefghi", "abcdefg1")
        ),
    ),
    Sentence(
        2,
        "Sub-account note, length 20",
        ("hedge", [{**VIRTUAL, "label": "x" * 20}]),
        (("hedge", [{**VIRTUAL, "label": "x" * 21}], "40056"), ("hedge", [{**VIRTUAL, "label": ""}], "40019")),
    ),
    Sentence(
        2,
        "at most 30 entries",
        ("hedge", [{**VIRTUAL, "ipList": ["10.0.0.1"] * 30}]),
        (
            ("hedge", [{**VIRTUAL, "ipList": ["10.0.0.1"] * 31}], "40017"),
            ("hedge", [{**VIRTUAL, "ipList": [7]}], "40017"),
        ),
    ),
    Sentence(
        2,
        "spot_trade (spot trade), margin_trade (spot margin trade), contract_trade (futures trade, read-write), read",
        ("hedge", [{**VIRTUAL, "permList": ["spot_trade", "margin_trade", "contract_trade", "read"]}]),
        (
            ("hedge", [{**VIRTUAL, "permList": ["withdraw"]}], "40020"),
            ("hedge", [{**VIRTUAL, "permList": [["read"]]}], "40017"),
            ("hedge", [{**VIRTUAL, "permList": "read"}], "40017"),
        ),
    ),
    Sentence(
        2,
        "a user can create up to 20 sub-accounts",
        ("hedge", [VIRTUAL]),
        (("at-limits", [VIRTUAL], "40069"),),
    ),
    Sentence(
        3,
        "The span from startTime to endTime must not exceed 90 days",
        ("hedge", MONTHS),
        (("hedge", {**MONTHS, "startTime": str(NOW_MS - 90 * DAY_MS - 1)}, "00001"),),
    ),
    Sentence(
        3,
        "For a managed sub-account it cannot be earlier than the binding time",
        ("managed", {"startTime": str(NOW_MS - 30 * DAY_MS)}),
        (("managed", {"startTime": str(NOW_MS - 30 * DAY_MS - 1)}, "40408"),),
    ),
    Sentence(
        4, "Only for an ND broker main-account", ("broker", {}), (("hedge", {}, "40029"), ("managed", {}, "40029"))
    ),
    Sentence(
        4,
        "startTime and endTime are both given or both empty",
        ("broker", {}),
        tuple(("broker", {name: WEEK[name]}, "40017") for name in WEEK),
    ),
    Sentence(
        4,
        "A range over 7 days returns an error",
        ("broker", WEEK),
        (("broker", {**WEEK, "startTime": str(NOW_MS - 7 * DAY_MS - 1)}, "00001"),),
    ),
    Sentence(4, "When over 100, 100 entries are returned", ("broker", {"limit": "101"})),
    Sentence(
        5,
        "In hedge mode tradeSide is required",
        ("hedge", REVERSAL),
        (("hedge", {name: value for name, value in REVERSAL.items() if name != "tradeSide"}, "40774"),),
    ),
    Sentence(
        5,
        "In one-way mode the request must not carry tradeSide",
        ("one-way", {name: value for name, value in REVERSAL.items() if name not in ("tradeSide", "side", "size")}),
        (("one-way", REVERSAL, "40774"),),
    ),
    Sentence(
        6,
        "When not given, all states are queried",
        ("hedge", PLAN),
        (("hedge", {**PLAN, "planStatus": "live"}, "40020"), ("hedge", USDT, "40019")),
    ),
    Sentence(
        6,
        "Maximum span three months",
        ("hedge", {**PLAN, **MONTHS}),
        (("hedge", {**PLAN, **MONTHS, "startTime": str(NOW_MS - 93 * DAY_MS)}, "00001"),),
    ),
    Sentence(
        6,
        "For a managed sub-account it cannot be earlier than the binding time",
        ("managed", {**PLAN, "startTime": str(NOW_MS - 30 * DAY_MS)}),
        (("managed", {**PLAN, "startTime": str(NOW_MS - 30 * DAY_MS - 1)}, "40408"),),
    ),
    Sentence(
        7,
        "One of the productType values",
        ("hedge", USDT),
        (("hedge", {}, "40019"), ("hedge", {"productType": "X"}, "40020")),
    ),
    Sentence(
        8,
        "Sub-account name, i.e. an e-mail address",
        ("broker", SUB),
        (
            ("broker", {"subaccountName": "nobody"}, "40020"),
            ("broker", {"label": "x"}, "40019"),
            ("hedge", SUB, "40029"),
        ),
    ),
    Sentence(
        8,
        "Remark, length below 20",
        ("broker", {**SUB, "label": "x" * 19}),
        (("broker", {**SUB, "label": "x" * 20}, "40056"),),
    ),
    Sentence(
        9,
        "Maximum interval to startTime is 90 days",
        ("hedge", MONTHS),
        (
            ("hedge", {**MONTHS, "startTime": str(NOW_MS - 90 * DAY_MS - 1)}, "00001"),
            ("hedge", {"endTime": MONTHS["endTime"]}, "40019"),
            ("hedge", {"startTime": MONTHS["startTime"]}, "40019"),
        ),
    ),
    Sentence(
        9,
        "Default 20, maximum 100",
        ("hedge", {**WEEK, "limit": "100"}),
        (("hedge", {**WEEK, "limit": "101"}, "40058"),),
    ),
    Sentence(
        10,
        "Sub-account user ID",
        ("broker", {"subUid": "4200000001"}),
        (("broker", {}, "40019"), ("broker", {"subUid": "1"}, "40066"), ("hedge", {"subUid": "4200000001"}, "40029")),
    ),
    Sentence(
        11,
        "The span to startTime must not exceed 90 days",
        ("hedge", MONTHS),
        (("hedge", {**MONTHS, "startTime": str(NOW_MS - 90 * DAY_MS - 1)}, "00001"),),
    ),
    Sentence(11, "Default 100, maximum 500", ("hedge", {"limit": "500"}), (("hedge", {"limit": "501"}, "40058"),)),
    Sentence(
        11,
        "deduction of handling fee (spot trading fee deduction)",
        ("hedge", {"businessType": "deduction of handling fee"}),
        (("hedge", {"businessType": "DEDUCTION_HANDLING_FEE"}, "40020"), ("hedge", {"groupType": "fiat"}, "40020")),
    ),
    Sentence(
        12,
        "live or partially_filled",
        ("hedge", {**USDT, "status": "partially_filled"}),
        (("hedge", {**USDT, "status": "filled"}, "40020"),),
    ),
    Sentence(
        12,
        "Maximum 100, default 100",
        ("hedge", {**USDT, "limit": "100"}),
        (("hedge", {**USDT, "limit": "101"}, "40058"),),
    ),
    Sentence(
        12,
        "Maximum span three months",
        ("hedge", {**USDT, **MONTHS}),
        (("hedge", {**USDT, **MONTHS, "startTime": str(NOW_MS - 93 * DAY_MS)}, "00001"),),
    ),
    Sentence(
        13,
        "Maximum span three months",
        ("hedge", {**USDT, **MONTHS}),
        (("hedge", {**USDT, **MONTHS, "startTime": str(NOW_MS - 93 * DAY_MS)}, "00001"),),
    ),
    Sentence(
        13,
        "For a managed sub-account it cannot be earlier than the binding time",
        ("managed", {**USDT, "startTime": str(NOW_MS - 30 * DAY_MS)}),
        (("managed", {**USDT, "startTime": str(NOW_MS - 30 * DAY_MS - 1)}, "40408"),),
    ),
)


def call(caller: Caller, number: int, account: str, parameters: Any) -> Answered:
    endpoint = BY_NUMBER[number]
    return (
        caller.post(endpoint.name, parameters, account)
        if endpoint.writes
        else caller.get(endpoint.name, account, **parameters)
    )


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda case: f"{case.number} {case.text[:40]}")
def test_a_sentence_both_ways(sentence: Sentence) -> None:
    caller = Caller()
    if sentence.number == 5:
        for name in ("hedge", "one-way"):
            caller.hold(name, long="1")
    for account, parameters, code in sentence.forbidden:
        refused = call(caller, sentence.number, account, parameters)
        assert (refused.code, refused.data) == (code, None), parameters
    account, parameters = sentence.allowed
    assert call(caller, sentence.number, account, parameters).code == "00000"


def test_the_sentences_stand_in_the_document(document: Document) -> None:
    for sentence in SENTENCES:
        assert sentence.text in document.endpoints[sentence.number].text, sentence.text
    assert {sentence.number for sentence in SENTENCES} == set(document.endpoints)


@pytest.mark.parametrize("number", [number for number in BY_NUMBER if BY_NUMBER[number].writes])
def test_required_parameters_of_a_write(document: Document, number: int) -> None:
    account, body = {
        1: ("copy-new", COPY),
        2: ("hedge", VIRTUAL),
        5: ("hedge", REVERSAL),
        8: ("broker", SUB),
    }[number]
    for row in document.endpoints[number].parameters:
        without = {name: value for name, value in body.items() if name != row["Parameter"]}
        code = call(Caller(), number, account, [without] if number == 2 else without).code
        if row["Required"] == "Yes":
            assert code == "40019", row["Parameter"]
        elif number != 5:
            assert code == "00000", row["Parameter"]


def test_limits_are_the_documents(document: Document) -> None:
    for number, text in document.limits.items():
        endpoint = BY_NUMBER[number]
        allowed = int(text.split()[0])
        caller = Caller(limits=True)
        account = "broker" if endpoint.area == "broker" else "hedge"
        codes = [call(caller, number, account, {}).code for _ in range(allowed + 1)]
        assert codes[-1] == "429" and "429" not in codes[:-1], endpoint.name
