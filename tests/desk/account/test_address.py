"""An account is one however its address is written."""

from __future__ import annotations

import pytest

from tradetui.desk.account.identity import AccountIdentity, normalised_address

SAME = (
    (
        "http://127.0.0.1:8080",
        "http://localhost:8080",
        "http://[::1]:8080",
        "HTTP://LocalHost:8080/",
        "http://localhost.:8080",
        "http://127.0.0.1.:8080",
        "http://127.1:8080",
        "http://2130706433:8080",
        "http://0x7f000001:8080",
        "http://127.8.8.8:8080",
        "http://[0:0:0:0:0:0:0:1]:8080",
        "http://[::ffff:127.0.0.1]:8080",
        "http://user@localhost:8080",
        " http://localhost:8080 ",
    ),
    (
        "https://api.example.com",
        "https://API.example.com",
        "https://api.example.com:443",
        "https://api.example.com.",
        "https://api.example.com/",
        "https://api.example.com.:443/",
    ),
    ("https://bücher.example", "https://xn--bcher-kva.example", "https://BÜCHER.example"),
    ("https://[2001:db8::1]", "https://[2001:DB8:0:0:0:0:0:1]:443"),
)


@pytest.mark.parametrize("spellings", SAME)
def test_every_spelling_is_one_address(spellings: tuple[str, ...]) -> None:
    assert len({normalised_address(spelling) for spelling in spellings}) == 1
    assert len({AccountIdentity(spelling, "live", "42", "exchange").name for spelling in spellings}) == 1


def test_what_is_another_exchange_stays_another() -> None:
    others = [
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8081",
        "https://127.0.0.1:8080",
        "http://127.0.0.1:8080/v3",
        "http://128.0.0.1:8080",
        "http://localhosts:8080",
        "https://api.example.com",
        "https://api2.example.com",
        "https://api.example.com:8443",
    ]
    assert len({normalised_address(other) for other in others}) == len(others)


@pytest.mark.parametrize("text", ["", "no address", "http://", "http://[::1", "http://x:port"])
def test_what_is_no_address_is_left_as_it_is(text: str) -> None:
    assert normalised_address(text) == text
