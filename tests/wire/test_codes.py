"""Codes: kind, remedy, and whether a write was certainly not taken."""

from __future__ import annotations

import pytest

from tradetui.wire.codes import (
    COPY_KEY_REFUSALS,
    KNOWN_CODES,
    CodeGroup,
    ErrorKind,
    endpoint_missing,
    meaning,
    refusal_explained,
    switches_off,
    wants_another_signature,
    wants_another_word,
    write_refused,
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("40009", ErrorKind.AUTHENTICATION),
        ("40008", ErrorKind.AUTHENTICATION),
        ("40012", ErrorKind.AUTHENTICATION),
        ("40099", ErrorKind.AUTHENTICATION),
        ("40014", ErrorKind.PERMISSION),
        ("40085", ErrorKind.PERMISSION),
        ("40029", ErrorKind.PERMISSION),
        ("429", ErrorKind.RATE_LIMIT),
        ("22002", ErrorKind.REJECTED),
        ("40774", ErrorKind.REJECTED),
        ("43012", ErrorKind.REJECTED),
        ("00001", ErrorKind.REJECTED),
        ("40404", ErrorKind.MISSING),
        ("40725", ErrorKind.BUSY),
        ("99999", ErrorKind.REJECTED),
    ],
)
def test_kinds(code: str, kind: ErrorKind) -> None:
    assert meaning(code).kind is kind


def test_every_known_code_has_a_remedy_that_is_a_sentence() -> None:
    assert len(KNOWN_CODES) > 170
    assert "00000" not in KNOWN_CODES
    for code in KNOWN_CODES:
        remedy = meaning(code).remedy
        assert remedy[0].isupper()
        assert remedy.endswith(".")


@pytest.mark.parametrize(
    ("codes", "remedy"),
    [
        (("40028", "40066"), "does not belong to this broker: check the UID"),
        (("40032", "40069"), "use one of them, or have the exchange raise the number"),
    ],
)
def test_a_sub_account_s_refusal_is_told_what_helps_against_it(codes: tuple[str, ...], remedy: str) -> None:
    for code in codes:
        assert remedy in meaning(code).remedy


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


def test_an_unlisted_code_is_a_refusal_only_under_a_status_of_refusal() -> None:
    assert write_refused("59999", 400)
    assert not write_refused("59999", 200)
    assert not write_refused("59999", 408)
    assert not write_refused("59999", 500)
    assert not write_refused("59999")
    assert meaning("59999").group is CodeGroup.UNLISTED


def test_the_code_of_maintenance_and_of_bad_parameters_is_told_by_its_message() -> None:
    assert write_refused(
        "40808", 400, "Parameter verification exception size checkBDScale error value=1.23 checkScale=1"
    )
    assert write_refused("40808", 400, "Parameter verification exception delegate count 0 > 0 ")
    assert not write_refused("40808", 400, "")
    assert not write_refused("40808", 500, "Parameter verification exception size checkBDScale error")


@pytest.mark.parametrize("words", COPY_KEY_REFUSALS)
def test_a_refusal_that_is_explained_is_not_called_unexplained(words: str) -> None:
    assert "look the code up" in meaning("31901", "Something else.").remedy
    assert meaning("31901", f"{words}.").remedy == ""


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


@pytest.mark.parametrize("words", COPY_KEY_REFUSALS)
def test_a_refusal_documented_by_its_words_is_one_under_any_code(words: str) -> None:
    for said in (words, f"{words.upper()}."):
        assert write_refused("31999", 200, said)
        assert not write_refused("31999", 502, said), "nothing under a 5xx says so"
        assert refusal_explained(said) == COPY_KEY_REFUSALS[words]
    assert not write_refused("31999", 200, "something else")
    assert refusal_explained("something else") is None
