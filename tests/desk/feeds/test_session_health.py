"""One word for how the session stands with the exchange."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from tests.desk.fixtures.scripted_exchange import Clock
from tradetui.desk.feeds.polling.feed import Feed, FeedError, Reader
from tradetui.desk.feeds.polling.session_health import LinkState, health_of
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.rate_limit.budget import Usage
from tradetui.exchange.rate_limit.quota import AddressUsage


def link(**other: Any) -> Any:
    usual = {
        "down": False,
        "last_reply_at": 9.0,
        "server_clock": SimpleNamespace(warns=False, offset_ms=3),
        "budget": budget(),
    }
    return SimpleNamespace(**usual | other)


def budget(**other: Any) -> Any:
    usual = {"usage": lambda: {"futures.fills": Usage(1, 5)}, "address_usage": AddressUsage}
    return SimpleNamespace(**usual | other)


def feeds(*broken: str, code: str | None = None) -> list[Feed[FeedRow]]:
    reader = cast("Reader[FeedRow]", None)  # health looks at what was published, and nothing is read
    made = [Feed(name, reader, 1.0, Clock()) for name in ("fills", "orders")]
    for feed in made:
        if feed.name in broken:
            feed.failures = 1
            feed.snapshot = replace(feed.snapshot, error=FeedError("It is not there", "Look for it.", code))
    return made


def test_before_the_first_reply_it_is_starting() -> None:
    assert health_of(link(last_reply_at=None), feeds(), 10.0).state is LinkState.STARTING


def test_all_well() -> None:
    health = health_of(link(), feeds(), 10.0)
    assert (health.state, health.sentence) == (LinkState.CONNECTED, "")


def test_one_feed_in_trouble_is_named_with_the_remedy() -> None:
    health = health_of(link(), feeds("orders"), 10.0)
    assert health.state is LinkState.DEGRADED
    assert health.sentence == "Orders: It is not there"
    assert health.remedy == "Look for it."


def test_nothing_gets_through() -> None:
    assert health_of(link(), feeds("orders", "fills"), 10.0).state is LinkState.DOWN
    assert health_of(link(down=True), feeds("orders"), 10.0).state is LinkState.DEGRADED, "one lost reply"
    assert health_of(link(down=True), feeds("orders"), 13.0).state is LinkState.DOWN
    assert health_of(link(last_reply_at=None), feeds("orders", "fills"), 10.0).state is LinkState.DOWN


def test_an_exchange_that_answers_no_is_no_lost_link() -> None:
    health = health_of(link(), feeds("orders", "fills", code="40012"), 10.0)
    assert (health.state, health.sentence) == (LinkState.REFUSED, "It is not there")
    assert health_of(link(down=True), feeds("orders", "fills", code="40012"), 13.0).state is LinkState.DOWN


def test_a_clock_that_is_off_and_a_budget_that_was_halved_are_said() -> None:
    ahead = health_of(link(server_clock=SimpleNamespace(warns=True, offset_ms=-2_300)), feeds(), 10.0)
    assert ahead.state is LinkState.DEGRADED
    assert "2.3 s ahead of" in ahead.sentence
    behind = health_of(link(server_clock=SimpleNamespace(warns=True, offset_ms=2_300)), feeds(), 10.0)
    assert "2.3 s behind" in behind.sentence
    busy = health_of(link(budget=budget(address_usage=lambda: AddressUsage(4_500, 4_800, slowed=True))), feeds(), 10.0)
    assert busy.state is LinkState.DEGRADED
    assert "4,500 of its 4,800 calls a minute" in busy.sentence
    assert "address_share" in busy.remedy
    halved = health_of(link(budget=budget(usage=lambda: {"futures.fills": Usage(1, 2, halved=True)})), feeds(), 10.0)
    assert halved.state is LinkState.DEGRADED
    assert "budget_share" in halved.remedy
