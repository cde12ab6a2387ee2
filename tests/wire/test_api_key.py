"""A key's permissions in words."""

from __future__ import annotations

import pytest

from tradetui.wire.models.api_key import MEANINGS_OF_AUTHORITIES, may_withdraw, permission_texts


def test_reading_and_writing_of_one_area_are_one_text() -> None:
    assert permission_texts(["cpow", "coor", "coow", "COOR", "stor"]) == (
        "futures positions: read and write",
        "futures orders: read and write",
        "spot trading: read",
    )


def test_an_unknown_authority_stands_as_it_came() -> None:
    assert permission_texts(["readonly", "zzzz", "readonly"]) == (
        "'readonly', which is not documented",
        "'zzzz', which is not documented",
    )


def test_every_documented_authority_has_words() -> None:
    for authority in MEANINGS_OF_AUTHORITIES:
        (text,) = permission_texts([authority])
        assert text.endswith((": read", ": read and write"))


@pytest.mark.parametrize(
    ("authorities", "withdraws"),
    [(["wwow"], True), (["WWOW"], True), (["withdraw"], True), (["wtow", "coow"], False), ([], False)],
)
def test_who_may_withdraw(authorities: list[str], withdraws: bool) -> None:
    assert may_withdraw(authorities) is withdraws
