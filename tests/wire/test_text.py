"""Text from outside is made safe in one place, and counts agree with their noun."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.wire.text import REPLACEMENT, counted, scrub, shown_of


@pytest.mark.parametrize(
    "dangerous",
    [
        "\x1b]52;c;Zm9v\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1b[2J",
        "\x9b31m",
        "\r\n\t",
        "‮ evil",
        "⁦x⁩",
        "a​b‍c﻿d",
        "\u2028\u2029",
        "ㅤ",
        "\ufe0f",
        "\ud800",
        "\x00\x7f",
        "­",
        "\U000e0041",
    ],
)
def test_dangerous_characters_are_replaced_one_by_one(dangerous: str) -> None:
    safe = scrub(dangerous)
    assert len(safe) == len(dangerous)
    assert REPLACEMENT in safe
    safe.encode()
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in safe)


@pytest.mark.parametrize("text", ["", "BTCUSDT 1.5", "[@click=app.quit]", "[/]", "交易台", "Grüße €", "é", "→ ¥"])
def test_harmless_text_is_left_alone(text: str) -> None:
    assert scrub(text) == text


@given(st.text())
def test_scrubbing_is_done_once_and_for_all(text: str) -> None:
    safe = scrub(text)
    assert scrub(safe) == safe
    assert len(safe) == len(text)


def test_a_noun_agrees_with_its_count() -> None:
    assert [counted(count, "row") for count in (0, 1, 2, 2_000)] == ["0 rows", "1 row", "2 rows", "2,000 rows"]


def test_titles_group_thousands_and_say_what_a_filter_leaves() -> None:
    assert (shown_of(2_000, 2_000), shown_of(12, 2_000), shown_of(0, 0)) == ("2,000", "12/2,000", "0")
