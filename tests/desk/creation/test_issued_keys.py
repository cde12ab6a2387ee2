"""Which row of a reply belongs to which key asked for: never to another, whatever the exchange makes of the names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from tradetui.desk.creation.key_store import masked_secrets, match_issued_keys
from tradetui.desk.creation.kinds import requested_keys_of
from tradetui.wire.endpoints.reply import UndecodableRow
from tradetui.wire.models.subaccounts import CreateBatchRequest, VirtualSubaccount

NAMES = ("alphaone", "betatwos", "gammatri", "deltafor", "epsilonf")


def request(names: tuple[str, ...], labels: tuple[str, ...] | None = None) -> CreateBatchRequest:
    requested: list[Any] = [
        {"sub_account_name": name, "passphrase": f"Pass{name}", "label": label}
        for name, label in zip(names, labels or names, strict=True)
    ]
    return CreateBatchRequest(accounts=requested)


def row(name: str, shown: str | None, label: str | None = None) -> VirtualSubaccount:
    return VirtualSubaccount.from_row(
        {
            "subAccountUid": f"uid {name}",
            "subAccountName": shown,
            "label": label,
            "subAccountApiKey": f"key {name}",
            "secretKey": f"secret {name}",
        }
    )


SHOWN: dict[str, Callable[[str], str | None]] = {
    "itself": lambda name: name,
    "as an address": lambda name: f"{name}@virtual.example",
    "in capitals": str.upper,
    "masked": lambda name: f"{name[:2]}****{name[-2:]}",
    "not at all": lambda name: None,
}


@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True),
    st.sets(st.sampled_from(NAMES)),
    st.randoms(use_true_random=False),
    st.sampled_from(list(SHOWN)),
    st.booleans(),
)
def test_a_row_is_given_to_its_own_key_or_to_none(
    requested_names: list[str], missing: set[str], chance: Any, how: str, labelled: bool
) -> None:
    creation_request = request(tuple(requested_names))
    answered = [name for name in requested_names if name not in missing]
    in_order = how in ("masked", "not at all") and not labelled
    if not in_order:
        chance.shuffle(answered)
    rows = [row(name, SHOWN[how](name), name if labelled else None) for name in answered]
    ours, others = match_issued_keys(requested_keys_of(creation_request), rows, ())
    for name, issued in zip(requested_names, ours, strict=True):
        if issued is not None:
            assert issued.api_key == f"key {name}"
            assert issued.passphrase == SecretStr(f"Pass{name}")
    matched = [issued for issued in ours if issued is not None]
    assert len(matched) + len(others) == len(rows), "none is lost"
    assert all(issued.passphrase is None for issued in others)
    if how in ("itself", "as an address", "in capitals") or labelled or not missing & set(requested_names):
        assert others == []


def test_a_row_that_comes_twice_is_one() -> None:
    repeated_row = row(NAMES[0], "al****ne", NAMES[0])
    (issued,), others = match_issued_keys(requested_keys_of(request(NAMES[:1])), [repeated_row, repeated_row], ())
    assert issued is not None and issued.passphrase == SecretStr(f"Pass{NAMES[0]}")
    assert others == []


def test_equal_notes_prove_nothing() -> None:
    creation_request = request(NAMES[:3], ("same", "same", "other"))
    rows = [row(NAMES[1], None, "same"), row(NAMES[2], None, "other")]
    ours, others = match_issued_keys(requested_keys_of(creation_request), rows, ())
    assert [issued and issued.api_key for issued in ours] == [None, None, f"key {NAMES[2]}"]
    assert [issued.api_key for issued in others] == [f"key {NAMES[1]}"]


def test_a_row_that_cannot_be_read_gives_what_is_in_it() -> None:
    creation_request = request(NAMES[:1])
    received = {"subAccountName": NAMES[0], "subAccountApiKey": "key", "secretKey": SecretStr("secret")}
    (issued,), others = match_issued_keys(
        requested_keys_of(creation_request), (), (UndecodableRow(0, "no uid", received),)
    )
    assert issued is not None
    assert (issued.api_key, issued.secret, issued.uid, others) == ("key", SecretStr("secret"), "", [])
    (nothing,), _ = match_issued_keys(requested_keys_of(creation_request), (), (UndecodableRow(0, "not an object", 7),))
    assert nothing is not None and nothing.secret is None


def test_the_journal_has_both_ends_of_a_key_and_nothing_of_a_secret() -> None:
    issued = masked_secrets(
        {"label": "desk", "subAccountApiKey": "bg_2af70123456789abcdef", "secretKey": SecretStr("secret")}
    )
    assert issued == {"label": "desk", "subAccountApiKey": "bg_2…cdef", "secretKey": "***"}
    assert masked_secrets({"apikey": "bg_2af70123456789abcdef"}) == {"apikey": "bg_2…cdef"}


def test_of_a_short_key_its_ends_would_be_most() -> None:
    assert masked_secrets({"apikey": "bg_2af7012345"}) == {"apikey": "***"}
