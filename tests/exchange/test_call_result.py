"""What a response means: which error its code is, and how long its headers tell to wait."""

from __future__ import annotations

import pytest

from tradetui.exchange.calls.result import CallResult, read_result, retry_after
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    ClassicAccount,
    EndpointMissing,
    ExchangeError,
    PermissionRefused,
    RateLimited,
    Rejected,
    UnifiedAccount,
)
from tradetui.exchange.transport.transport import HttpResponse
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import Envelope

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


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("40009", AuthenticationFailed),
        ("40008", AuthenticationFailed),
        ("40012", AuthenticationFailed),
        ("40099", AuthenticationFailed),
        ("40014", PermissionRefused),
        ("40084", ClassicAccount),
        ("25245", ClassicAccount),
        ("40731", UnifiedAccount),
        ("40085", UnifiedAccount),
        ("40029", PermissionRefused),
        ("429", RateLimited),
        ("22002", Rejected),
        ("40774", Rejected),
        ("43012", Rejected),
        ("00001", Rejected),
        ("40404", EndpointMissing),
        ("40725", Busy),
        ("99999", Rejected),
    ],
)
def test_a_code_says_which_error_is_raised(code: str, kind: type[ExchangeError]) -> None:
    call = CallResult(0, HttpResponse(200, {}, b""), Envelope(code, "", None))
    assert type(read_result(CATALOGUE["futures.fills"], call)) is kind
