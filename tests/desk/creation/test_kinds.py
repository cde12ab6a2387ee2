"""The form holds to the requests' own rules: what it lets through is a request, what it does not is told where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.desk.creation.kinds import CreationKind, check_form, creation_fields, rows_of
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.subaccounts import CreateBatchRequest

GOOD = {"subAccountName": "alphaone", "passphrase": "Passphrase1", "label": "note", "permList": "", "ipList": ""}
EMPTY = dict.fromkeys(GOOD, "")


def test_the_fields_are_the_requests_own() -> None:
    assert [field.name for field in creation_fields(CreationKind.SUBACCOUNTS)] == list(GOOD)
    assert [field.name for field in creation_fields(CreationKind.BROKER_SUBACCOUNT)] == ["subaccountName", "label"]
    assert [field.name for field in creation_fields(CreationKind.COPY_KEY)] == ["passphrase"]
    assert [field.name for field in creation_fields(CreationKind.SUBACCOUNTS) if field.is_secret] == ["passphrase"]
    assert [kind.gives_keys for kind in CreationKind] == [True, False, True]
    assert [rows_of(kind) for kind in CreationKind] == [5, 1, 1]


def test_empty_rows_are_none_wherever_they_stand() -> None:
    other = {**GOOD, "subAccountName": "betatwos"}
    result = check_form(CreationKind.SUBACCOUNTS, [EMPTY, GOOD, EMPTY, {**other, "ipList": "  "}, EMPTY])
    assert isinstance(result.request, CreateBatchRequest)
    assert [account.sub_account_name for account in result.request.accounts] == ["alphaone", "betatwos"]
    assert "ipList" not in json.loads(result.request.body())[0], "what is empty is left out"
    assert check_form(CreationKind.SUBACCOUNTS, [EMPTY] * 5).request is None
    assert not any(check_form(CreationKind.SUBACCOUNTS, [EMPTY] * 5).missing)


def test_lists_are_separated_by_what_people_separate_them_with() -> None:
    row = {**GOOD, "permList": "READ, spot_trade;contract_trade", "ipList": " 10.0.0.1\t::1,, 10.0.0.8 "}
    request = check_form(CreationKind.SUBACCOUNTS, [row]).request
    assert isinstance(request, CreateBatchRequest)
    (sent,) = json.loads(request.body())
    assert sent["permList"] == ["read", "spot_trade", "contract_trade"]
    assert sent["ipList"] == ["10.0.0.1", "::1", "10.0.0.8"]


def test_a_name_twice_is_told_at_the_later_row() -> None:
    result = check_form(CreationKind.SUBACCOUNTS, [GOOD, EMPTY, {**GOOD, "subAccountName": "ALPHAone"}])
    assert result.request is None
    assert [list(row_problems) for row_problems in result.problems] == [[], [], ["subAccountName"]]
    result = check_form(CreationKind.SUBACCOUNTS, [GOOD, GOOD])
    assert [list(row_problems) for row_problems in result.problems] == [[], ["subAccountName"]]


@pytest.mark.parametrize(
    ("kind", "row", "missing"),
    [
        (CreationKind.COPY_KEY, {"passphrase": ""}, ("passphrase",)),
        (CreationKind.BROKER_SUBACCOUNT, {"subaccountName": "", "label": "x"}, ("subaccountName",)),
        (CreationKind.SUBACCOUNTS, {**EMPTY, "label": "x"}, ("subAccountName", "passphrase")),
    ],
)
def test_what_is_missing_is_named(kind: CreationKind, row: dict[str, str], missing: tuple[str, ...]) -> None:
    result = check_form(kind, [row])
    assert result.request is None
    assert result.missing == (missing,)


TEXTS = st.one_of(
    st.sampled_from(["", "alphaone", "Passphrase1", "read", "read x", "10.0.0.1", "a@b.example", "no"]),
    st.text(max_size=40),
)


@given(st.lists(st.fixed_dictionaries({name: TEXTS for name in GOOD}), min_size=1, max_size=5))
def test_a_form_without_a_problem_is_a_request_and_one_with_a_problem_is_none(rows: list[dict[str, str]]) -> None:
    result = check_form(CreationKind.SUBACCOUNTS, rows)
    troubled = any(result.problems) or any(result.missing)
    filled = any(text.strip() for row in rows for text in row.values())
    assert (result.request is not None) is (filled and not troubled)
    for row, problems in zip(rows, result.problems, strict=True):
        passphrase = row["passphrase"]
        assert len(passphrase) < 8 or passphrase not in problems.get("passphrase", ""), "never repeated"
    if result.request is not None:
        assert isinstance(result.request, CreateBatchRequest)
        try:
            CreateBatchRequest(accounts=json.loads(result.request.body()))
        except InvalidRequest as problem:
            raise AssertionError(f"what the form let through is refused: {problem}") from None
