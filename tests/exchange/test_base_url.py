"""Which base URLs are accepted, and what is taken from them."""

from __future__ import annotations

import pytest

from tests.exchange.scripted_exchange import CREDENTIALS
from tradetui.exchange import ExchangeReader
from tradetui.exchange.transport.transport import Origin, parse_base_url
from tradetui.wire.errors import InvalidRequest


@pytest.mark.parametrize(
    "base_url",
    [
        "http://api.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://192.168.1.5",
        "ftp://127.0.0.1",
        "api.example.com",
        "https://",
        "https://user:hidden@api.example.com",
        "https://api.example.com/v1",
        "https://api.example.com?x=1",
        "https://api.example.com:port",
        "https://api example.com",
        "https://api..example.com",
        "https://api.%65xample.com",
        f"https://{'a' * 64}.example.com",
        "https://[::1",
        "https://[abc]",
        "https://user:hidden@[::1",
        "https://user:hidden@ex\N{ACCOUNT OF}mple.com",
        "",
    ],
)
def test_base_urls_that_are_refused(base_url: str) -> None:
    with pytest.raises(InvalidRequest, match="base_url") as failure:
        ExchangeReader(CREDENTIALS, base_url)
    assert "hidden" not in str(failure.value)


@pytest.mark.parametrize(
    ("base_url", "origin"),
    [
        ("https://api.example.com", Origin("https", "api.example.com", 443)),
        ("https://api.example.com/", Origin("https", "api.example.com", 443)),
        (" https://api.example.com:8443 ", Origin("https", "api.example.com", 8443)),
        ("http://127.0.0.1:8080", Origin("http", "127.0.0.1", 8080)),
        ("http://127.9.9.9", Origin("http", "127.9.9.9", 80)),
        ("http://localhost:1", Origin("http", "localhost", 1)),
        ("http://[::1]:81", Origin("http", "::1", 81)),
        ("https://b\N{LATIN SMALL LETTER O WITH DIAERESIS}rse.example", Origin("https", "xn--brse-5qa.example", 443)),
    ],
)
def test_base_urls_that_are_taken(base_url: str, origin: Origin) -> None:
    assert parse_base_url(base_url) == origin
    assert parse_base_url(origin.url) == origin
