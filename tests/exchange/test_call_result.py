"""Headers that tell how long to wait."""

from __future__ import annotations

import pytest

from tradetui.exchange.calls.http_response import retry_after

NOW_MS = 1_790_000_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        (" 120 ", 120.0),
        ("-3", None),
        ("soon", None),
        ("1.5", None),
        ("86400", 300.0),
        ("9" * 40, 300.0),
        ("Mon, 21 Sep 2026 14:13:30 GMT", 10.0),
        ("Mon, 21 Sep 2026 13:00:00 GMT", 0.0),
        ("Tue, 22 Sep 2026 13:00:00 GMT", 300.0),
    ],
)
def test_retry_after(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOW_MS) == seconds
