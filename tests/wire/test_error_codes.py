"""Codes: remedy, and whether a write was certainly not taken."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.optional_packages import import_optional
from tradetui.wire.error_codes import (
    COPY_KEY_REFUSALS,
    MEANINGS,
    CodeGroup,
    endpoint_missing,
    meaning,
    refusal_explained,
    switches_off,
    wants_another_signature,
    wants_another_word,
    write_refused,
)


def test_every_known_code_has_a_remedy_that_is_a_sentence() -> None:
    assert len(MEANINGS) > 170
    assert "00000" not in MEANINGS
    for code in MEANINGS:
        remedy = meaning(code).remedy
        assert remedy[0].isupper()
        assert remedy.endswith(".")


@pytest.mark.parametrize(
    ("codes", "remedy"),
    [
        (("40028", "40066"), "does not belong to this broker: check the UID"),
        (("40032", "40069"), "use one of them, or ask the exchange for more"),
    ],
)
def test_a_sub_account_s_refusal_is_told_what_helps_against_it(codes: tuple[str, ...], remedy: str) -> None:
    for code in codes:
        assert remedy in meaning(code).remedy


def test_a_code_sent_for_too_little_margin_and_for_too_large_an_order_names_both() -> None:
    remedy = meaning("40762").remedy
    assert "margin" in remedy
    assert "market order" in remedy


@pytest.mark.parametrize("code", ["40010", "40015", "40725", "45001", "40200", "40910", "43059", "500"])
def test_system_codes_leave_the_outcome_of_a_write_unknown(code: str) -> None:
    for status in (200, 400, 500, None):
        assert not write_refused(code, status)


@pytest.mark.parametrize("code", ["22002", "40774", "40009", "40014", "43012", "429", "40404"])
def test_a_readable_refusal_says_a_write_was_not_taken_unless_the_server_failed(code: str) -> None:
    for status in (200, 400, 404, 429, None):
        assert write_refused(code, status)
    for status in (500, 502, 503):
        assert not write_refused(code, status)


@pytest.mark.parametrize("code", ["43118", "45034", "40708", "40786"])
def test_a_client_id_that_is_taken_leaves_the_outcome_unknown_since_it_was_made_for_this_request(code: str) -> None:
    for status in (200, 400, None):
        assert not write_refused(code, status)


@given(st.text(max_size=12), st.sampled_from((None, 200, 400, 401, 403, 404, 408, 429, 500, 503)), st.text(max_size=40))
def test_a_code_that_is_not_listed_leaves_the_outcome_of_a_write_unknown(
    code: str, status: int | None, msg: str
) -> None:
    assume(code not in MEANINGS)
    assume(refusal_explained(msg) is None)
    assert not write_refused(code, status, msg)


def test_codes_that_public_clients_list_are_refusals_only_where_their_text_refuses_the_request() -> None:
    client_codes = set(import_optional("ccxt").bitget().exceptions["exact"])
    listed = client_codes & MEANINGS.keys()
    assert len(listed) > 200
    for code in client_codes - MEANINGS.keys():
        assert not write_refused(code, 400)
    # Texts that speak of another state than the request's: a system, an order that is not there, a time-out.
    for code in (
        "1",
        "30009",
        "30019",
        "30030",
        "30038",
        "32047",
        "33013",
        "36217",
        "40604",
        "50008",
        "40768",
        "43001",
    ):
        assert not write_refused(code, 400), code
    for code in ("30013", "30023", "32005", "35047", "36224", "40711", "40712", "403", "1001", "45113"):
        assert write_refused(code, 400), code


@pytest.mark.parametrize("code", ["429", "1001", "30007", "40047"])
def test_a_limit_that_names_itself_refuses_a_write_under_any_status_below_500(code: str) -> None:
    for status in (200, 400, 429):
        assert write_refused(code, status)
    assert meaning(code).group is CodeGroup.RATE


def test_a_time_out_status_leaves_the_outcome_unknown_whatever_the_code() -> None:
    for code in MEANINGS:
        assert not write_refused(code, 408)
        assert not write_refused(code, 504)


@pytest.mark.parametrize("code", ["40109", "40768", "43025"])
def test_an_order_that_is_not_there_leaves_the_outcome_unknown_since_it_may_be_the_one_just_made(code: str) -> None:
    assert not write_refused(code, 400)


def test_the_code_of_maintenance_and_of_bad_parameters_is_told_by_its_message() -> None:
    assert write_refused(
        "40808", 400, "Parameter verification exception size checkBDScale error value=1.23 checkScale=1"
    )
    assert write_refused("40808", 400, "Parameter verification exception delegate count 0 > 0 ")
    assert not write_refused("40808", 400, "")
    assert not write_refused("40808", 500, "Parameter verification exception size checkBDScale error")


@pytest.mark.parametrize("message", COPY_KEY_REFUSALS)
def test_a_refusal_that_is_explained_is_not_called_unexplained(message: str) -> None:
    assert "look the code up" in meaning("31901", "Something else.").remedy
    assert meaning("31901", f"{message}.").remedy == COPY_KEY_REFUSALS[message]


def test_what_switches_an_endpoint_beyond_the_interface_off() -> None:
    assert switches_off("40404", 400)
    assert switches_off("anything", 404)
    assert switches_off("40014", 400)
    for code in ("40725", "429", "40009", "43011", "40085"):
        assert not switches_off(code, 400)
    assert endpoint_missing("40404")
    assert not endpoint_missing("40109")


def test_what_asks_for_another_word_or_signature() -> None:
    assert wants_another_word("40017")
    assert wants_another_word("40020")
    assert not wants_another_word("40009")
    assert wants_another_signature("40009")
    assert not wants_another_signature("40012")


@pytest.mark.parametrize("message", COPY_KEY_REFUSALS)
def test_a_refusal_documented_by_its_words_is_one_under_any_code(message: str) -> None:
    for spelling in (message, f"{message.upper()}."):
        assert write_refused("31999", 200, spelling)
        assert not write_refused("31999", 502, spelling), "nothing under a 5xx says so"
        assert refusal_explained(spelling) == COPY_KEY_REFUSALS[message]
    assert not write_refused("31999", 200, "something else")
    assert refusal_explained("something else") is None


@pytest.mark.parametrize("code", ["31001", "31025", "40732"])
def test_an_account_that_is_no_copy_trader_is_not_sent_to_its_copy_orders(code: str) -> None:
    remedy = meaning(code, "Current user is not a trader").remedy
    assert "not a copy trader" in remedy and "current copy orders" not in remedy
