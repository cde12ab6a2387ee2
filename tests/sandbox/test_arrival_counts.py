"""What an address may ask of the exchange: six thousand calls in any minute, and five minutes' silence after more."""

from __future__ import annotations

import random
from collections import deque

import pytest

from tests.sandbox.signed_requests import NOW_MS, Answered, Caller
from tradetui.sandbox.gateway.api_keys import RECOVERY_MS, ArrivalCounts
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE

HERE, THERE = "192.0.2.7", "2001:db8::7"
ACCOUNTS = ("hedge", "one-way", "broker", "copy-old")
NAMES = ("futures.accounts", "spot.bills", "futures.fills", "public.time")
SECOND = 1_000


class Flood:
    """Calls of one sandbox from an address."""

    def __init__(self, *, limits: bool = True) -> None:
        self.caller = Caller(limits=limits)
        self.calls = 0

    def ask(self, address: str = HERE, name: str = "futures.accounts", account: str = "hedge") -> Answered:
        query = "" if name in ("public.time", "spot.bills") else "productType=USDT-FUTURES"
        return self.caller.send("GET", CATALOGUE[name].path, account, query=query, address=address)

    def allowed(self, count: int = ADDRESS_CALLS_PER_MINUTE, *, every_ms: int = 9) -> None:
        """So many calls, one every few milliseconds, of which none is refused."""
        for _ in range(count):
            # Unknown paths cost nothing to answer, and count like any other call.
            answer = self.caller.send("GET", "/api/v2/nothing", "hedge", address=HERE)
            assert answer.code == "40404", self.calls
            self.calls += 1
            self.caller.now_ms += every_ms


@pytest.fixture
def flooded() -> Flood:
    flood = Flood()
    flood.allowed()
    return flood


def test_the_call_too_many_is_refused_with_its_code(flooded: Flood) -> None:
    assert flooded.caller.now_ms - NOW_MS < 60 * SECOND
    refused = flooded.ask()
    assert (refused.status, refused.code, refused.body["msg"]) == (429, "429", "Too Many Requests")
    assert (refused.data, refused.left) == (None, None)
    for name in NAMES:
        for account in ACCOUNTS:
            assert flooded.ask(HERE, name, account).code == "429", "whoever asks and whatever"
    assert flooded.caller.send("GET", "/api/v2/nothing", "hedge", address=HERE).code == "429"


def test_another_address_goes_on(flooded: Flood) -> None:
    assert flooded.ask().code == "429"
    assert flooded.ask(THERE).code == "00000"
    assert flooded.ask("").code == "00000", "within the process there is no address"


def test_it_takes_five_minutes_to_recover(flooded: Flood) -> None:
    assert flooded.ask().code == "429"
    began = flooded.caller.now_ms
    for after_ms in (60 * SECOND, RECOVERY_MS - 1):
        flooded.caller.now_ms = began + after_ms
        assert flooded.ask().code == "429", after_ms
    flooded.caller.now_ms = began + RECOVERY_MS
    assert flooded.ask().code == "00000", "asking meanwhile has not made it longer"


def test_a_steady_pace_below_the_limit_is_never_refused() -> None:
    Flood().allowed(ADDRESS_CALLS_PER_MINUTE + 500, every_ms=10)


def test_without_limits_there_is_none() -> None:
    Flood(limits=False).allowed(ADDRESS_CALLS_PER_MINUTE + 1)


def test_the_minute_slides() -> None:
    chance, counts, now, refused = random.Random(3), ArrivalCounts(), NOW_MS, 0
    admitted: deque[int] = deque()
    for _ in range(60_000):
        now += chance.choice((0, 1, 5, 11, 32))
        while admitted and admitted[0] <= now - 60 * SECOND:
            admitted.popleft()
        assert counts.admit_address(HERE, now) is (len(admitted) < ADDRESS_CALLS_PER_MINUTE)
        if len(admitted) == ADDRESS_CALLS_PER_MINUTE:
            refused += 1
            now += RECOVERY_MS
        else:
            admitted.append(now)
    assert refused > 2
