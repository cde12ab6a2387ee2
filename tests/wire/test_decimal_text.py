"""What somebody typed is a number as he sees it, or none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tradetui.wire.decimal_text import typed_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.1", "0.1"), (" 20 ", "20"), (".5", "0.5"), ("1E-7", "0.0000001"), ("-3", "-3"), ("0.10", "0.1")],
)
def test_digits_are_a_number(text: str, number: str) -> None:
    assert typed_number(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "x", "0,1", "0_1", "1_000", "\u0663", "\uff15", "1 5", "NaN", "Infinity", "0x10"])
def test_a_slip_of_the_finger_is_none(text: str) -> None:
    assert typed_number(text) is None
