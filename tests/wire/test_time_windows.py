"""Stretches of time are cut without gaps, and each endpoint's rule is in its request."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.exchange_time import DAY_MS, split_span

MOMENT = st.integers(min_value=0, max_value=2_000_000_000_000)


@given(MOMENT, st.integers(min_value=0, max_value=400 * DAY_MS), st.integers(min_value=DAY_MS, max_value=90 * DAY_MS))
def test_pieces_cover_the_span_newest_first_without_a_gap(start: int, length: int, piece: int) -> None:
    pieces = list(split_span(start, start + length, piece))
    assert pieces[0][1] == start + length
    assert pieces[-1][0] == start
    assert all(0 <= end - begin <= piece for begin, end in pieces)
    assert all(older[1] == newer[0] for newer, older in pairwise(pieces))
    assert len(pieces) == max(1, -(-length // piece))


def test_an_end_before_its_start_has_no_pieces() -> None:
    assert list(split_span(10, 9, 5)) == []
    assert list(split_span(10, 10, 5)) == [(10, 10)]
    with pytest.raises(ValueError, match="longer"):
        list(split_span(1, 2, 0))


def test_no_piece_is_longer_than_ninety_days() -> None:
    for endpoint in CATALOGUE.values():
        if endpoint.time is not None:
            assert endpoint.time.piece_ms <= min(endpoint.time.span_ms, 90 * DAY_MS)
            values = {
                "start_time": 1,
                "end_time": 1 + endpoint.time.piece_ms,
                "product_type": "USDT-FUTURES",
                "category": "USDT-FUTURES",
                "plan_type": "normal_plan",
            }
            known = {parameter.attribute for parameter in endpoint.request.parameters.values()}
            endpoint.request(**{name: value for name, value in values.items() if name in known})
