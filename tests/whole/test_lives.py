"""Lives of the program against a second exchange: the exchange keeps to its documents, and lives can be replayed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.whole.lives.books import Books
from tests.whole.lives.clocks import ExchangeClock
from tests.whole.lives.exchange import API_KEY, PASSPHRASE, Request, SecondExchange
from tests.whole.lives.generate import plan_of
from tests.whole.lives.life import live
from tests.whole.lives.network import PLAIN
from tests.whole.lives.plan import ActKind, Plan, Words

HEDGE, ONE_WAY = True, False


def calm(seed: int) -> Plan:
    """The life of a seed without its weather: one process, and everything at once."""
    plan = plan_of(seed)
    return replace(
        plan,
        processes=plan.processes[:1],
        acts=tuple(replace(act, who=0, kill_step=None) for act in plan.acts if act.kind is ActKind.REVERSE),
        posts=(PLAIN,) * 4,
        clock_steps=(),
        read_faults=(),
        strangers=(),
        words=Words(),
        position_lag_s=0.0,
        detail_lag_s=0.0,
        fill_lag_s=0.0,
        disk_slow_share=0.0,
    )


@pytest.mark.parametrize(
    ("hedge", "held", "body", "after"),
    [
        (HEDGE, (20, 0), {"side": "buy", "size": "3", "tradeSide": "Open"}, (17, 3)),
        (HEDGE, (10, 0), {"side": "buy", "size": "11", "tradeSide": "Open"}, (0, 10)),
        (HEDGE, (20, 5), {"side": "buy", "size": "3", "tradeSide": "open"}, (17, 8)),
        (HEDGE, (20, 5), {"side": "sell", "size": "5", "tradeSide": "Open"}, (25, 0)),
        (ONE_WAY, (10, 0), {}, (0, 10)),
        (ONE_WAY, (10, 0), {"size": "3"}, (4, 0)),
        (HEDGE, (10, 0), {"side": "buy", "size": "3"}, "40774"),
        (ONE_WAY, (10, 0), {"tradeSide": "Open"}, "40774"),
        (HEDGE, (0, 5), {"side": "buy", "size": "3", "tradeSide": "Open"}, "22002"),
    ],
)
@pytest.mark.looptime
async def test_the_second_exchange_reverses_as_the_interface_says(
    hedge: bool, held: tuple[int, int], body: dict[str, str], after: tuple[int, int] | str
) -> None:
    books = Books(hedge=hedge, fill_lag_s=lambda: 0.0)
    clock = ExchangeClock(lambda: None)
    exchange = SecondExchange(replace(plan_of(0), hedge=hedge, ignores_one_way_size=False), books, clock)
    books.open_before("BTCUSDT", Decimal(held[0]), Decimal(held[1]))
    sent = {"symbol": "BTCUSDT", "productType": "USDT-FUTURES", "marginCoin": "USDT", "clientOid": "mine", **body}
    exchange._authenticate = lambda request: None  # type: ignore[method-assign]
    headers = {"access-key": API_KEY, "access-passphrase": PASSPHRASE}
    response = exchange.reverse(
        Request("POST", "/api/v2/mix/order/click-backhand", headers, json.dumps(sent).encode()), PLAIN.matching
    )
    await asyncio.sleep(5)
    if isinstance(after, str):
        assert response.envelope["code"] == after
        after = held
    holding = books.held["BTCUSDT"].now
    assert (holding.long, holding.short) == (Decimal(after[0]), Decimal(after[1]))


def test_a_seed_gives_the_same_life_again() -> None:
    first, second = live(plan_of(1)), live(plan_of(1))
    assert len(first.trace) > 5
    assert first.trace == second.trace


@pytest.mark.parametrize("seed", range(24))
def test_without_weather_every_promise_holds(seed: int) -> None:
    verdict = live(calm(seed))
    assert not verdict.broken, verdict.broken
    assert verdict.posts, verdict.trace
