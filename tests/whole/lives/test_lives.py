"""Lives of the program against a second exchange, each from its seed: every promise holds in all of them.

A broken life is replayed by its seed: python -m tests.whole.lives SEED
Many more of them: python -m pytest -m campaign tests/whole/lives/test_lives.py -s
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from decimal import Decimal
from multiprocessing import get_context
from random import Random

import pytest

from tests.whole.lives.books import Books
from tests.whole.lives.campaign import Report, run_lives, run_screen_lives
from tests.whole.lives.clocks import ExchangeClock
from tests.whole.lives.exchange import API_KEY, PASSPHRASE, Request, SecondExchange
from tests.whole.lives.generate import plan_of
from tests.whole.lives.life import live
from tests.whole.lives.network import PLAIN
from tests.whole.lives.plan import (
    Act,
    ActKind,
    ClockOf,
    Damage,
    FillStep,
    Leg,
    Matching,
    Plan,
    ReadFault,
    ReadFaultKind,
    ReplyKind,
    UnknownValues,
)
from tests.whole.lives.rare import another_reverses_alike

HEDGE, ONE_WAY = True, False
SUITE_LIVES, IN_A_GROUP = 36, 6
CAMPAIGN_LIVES, CAMPAIGN_SCREEN_LIVES = 10_000, 200
AT_ONCE = 20
BROKE_A_PROMISE_ONCE = (
    *(309, 636, 1542, 1885, 2114, 3177, 3536, 4882, 5918, 7930, 8279, 8568, 8847, 9573, 12349, 19853),
    *(20047, 50321, 70140, 110654, 221391, 237983, 3_001_508, 3_006_258, 3_008_412, 3_009_634, 3_200_834),
)
WEATHER = (
    *(f"reply {kind}" for kind in ReplyKind),
    *(str(kind) for kind in ReadFaultKind),
    *(str(kind) for kind in Damage),
    *(f"{clock} clock steps" for clock in ClockOf),
    "kills",
    "reboots",
    "request arrives after the time-out",
    "matching legs apart",
    "matching stays partly filled",
)


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
        spelling=UnknownValues(),
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


@pytest.mark.parametrize("seed", range(8))
def test_without_weather_every_promise_holds(seed: int) -> None:
    verdict = live(calm(seed))
    assert not verdict.broken, verdict.broken
    assert verdict.posts, verdict.trace


def test_what_another_boot_left_intended_is_withdrawn_at_once() -> None:
    killed = Act(5.0, ActKind.REVERSE, side_long=True, kill_state="intended", kill_step=1, pause_s=60.0)
    plan = replace(calm(0), hedge=True, long=Decimal(3), acts=(killed, Act(6.0, ActKind.REBOOT, pause_s=1.0)))
    verdict = live(plan)
    assert not verdict.broken, verdict.broken
    assert verdict.outcomes == {"withdrawn": 1}


def test_a_kill_in_the_middle_of_a_stop_is_no_hang() -> None:
    lost = replace(PLAIN, arrives_after_s=None, reply=ReplyKind.LOST)
    reversal = Act(5.0, ActKind.REVERSE, side_long=True, kill_state="unknown", kill_step=2)
    stopped = Act(8.0, ActKind.STOP, pause_s=1.0)
    plan = replace(calm(0), hedge=True, long=Decimal(3), acts=(reversal, stopped), posts=(lost,))
    verdict = live(plan)
    assert verdict.hits["kills"] == 1, verdict.trace
    assert not verdict.broken, verdict.broken


def test_an_order_seen_once_by_a_look_that_failed_settles_without_the_trader() -> None:
    tenth = Matching("remainder", (FillStep(1.0, Leg.CLOSE, Decimal("0.1")),), 4.0)
    broken = replace(PLAIN, reply=ReplyKind.BROKEN, matching=tenth)
    unread = ReadFault(6.2, 30.0, "order/fills", ReadFaultKind.SERVER_ERROR, 1.0)
    once = (Act(5.0, ActKind.REVERSE, side_long=True),)
    plan = replace(
        calm(0), hedge=True, core_only=True, shows_pending=True, long=Decimal(10), acts=once, posts=(broken,)
    )
    verdict = live(replace(plan, read_faults=(unread,)))
    assert not verdict.broken, verdict.broken
    assert verdict.outcomes == {"settled remainder left": 1}, verdict.trace


@pytest.mark.parametrize("ended_for_s", [None, 1.0, 60.0], ids=["runs on", "restarted before it", "restarted after it"])
def test_an_opening_leg_after_an_inferred_end_corrects_it_though_nothing_names_our_order(
    ended_for_s: float | None,
) -> None:
    apart = Matching("legs apart", (FillStep(0.1, Leg.CLOSE, Decimal(1)), FillStep(120.0, Leg.OPEN, Decimal(1))), 125.0)
    broken = replace(PLAIN, reply=ReplyKind.BROKEN, matching=apart)
    acts = [Act(5.0, ActKind.REVERSE, side_long=True)]
    if ended_for_s is not None:
        acts.append(Act(115.0, ActKind.KILL, pause_s=ended_for_s))
    plan = replace(calm(0), hedge=True, core_only=True, shows_pending=False, long=Decimal(10), acts=tuple(acts))
    verdict = live(replace(plan, posts=(broken,), weather_ends_s=190.0))
    assert not verdict.broken, verdict.broken
    assert verdict.outcomes == {"settled reversed": 1}, verdict.trace
    assert any("corrected" in line for line in verdict.trace)


def test_a_journal_emptied_after_an_intent_that_was_not_sent_is_lost_all_the_same() -> None:
    killed = Act(5.0, ActKind.REVERSE, side_long=True, kill_state="intended", kill_step=1, pause_s=1.0)
    emptied = replace(killed, damage=Damage.EMPTIED)
    plan = replace(calm(0), hedge=True, long=Decimal(3), acts=(emptied, Act(20.0, ActKind.REVERSE, side_long=True)))
    verdict = live(plan)
    assert not verdict.broken, verdict.broken
    assert verdict.hits["losses accepted in the end"], verdict.trace


def test_an_order_that_ends_in_an_unknown_state_without_effect_settles() -> None:
    nothing = replace(PLAIN, matching=Matching("nothing", (), 0.4))
    once = (Act(5.0, ActKind.REVERSE, side_long=True),)
    plan = replace(calm(0), hedge=True, core_only=False, long=Decimal(3), acts=once, posts=(nothing,))
    verdict = live(replace(plan, spelling=UnknownValues(end_state="part_cancelled")))
    assert not verdict.broken, verdict.broken
    assert verdict.outcomes == {"settled unchanged": 1}


@pytest.mark.parametrize("seed", (1, 3, 6))
def test_what_another_trades_alike_is_not_our_order_that_waits(seed: int) -> None:
    verdict = live(another_reverses_alike(Random(f"x{seed}"), plan_of(seed)))
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))


@pytest.mark.parametrize("first", range(0, SUITE_LIVES, IN_A_GROUP))
def test_every_promise_holds_in_many_lives(first: int) -> None:
    report = run_lives(range(first, first + IN_A_GROUP))
    assert not report.broken, "\n".join(report.lines())


@pytest.mark.parametrize("seed", BROKE_A_PROMISE_ONCE)
def test_every_promise_holds_in_a_life_in_which_one_was_broken_once(seed: int) -> None:
    verdict = live(plan_of(seed))
    assert not verdict.broken, "\n".join((*verdict.trace, *verdict.broken))


def test_every_promise_holds_at_the_screen() -> None:
    report = run_screen_lives(range(1))
    assert not report.broken, "\n".join(report.lines())
    assert report.hits["keys pressed"] > 10


@pytest.mark.campaign
def test_every_promise_holds_in_a_campaign() -> None:
    report = in_all_processors(CAMPAIGN_LIVES, run_lives)
    print(*report.lines(), sep="\n")  # noqa: T201
    assert not report.broken
    assert not [kind for kind in WEATHER if not report.hits[kind]]


@pytest.mark.campaign
def test_every_promise_holds_at_the_screen_in_a_campaign() -> None:
    report = in_all_processors(CAMPAIGN_SCREEN_LIVES, run_screen_lives)
    print(*report.lines(), sep="\n")  # noqa: T201
    assert not report.broken


def in_all_processors(lives: int, run: Callable[[range], Report]) -> Report:
    """Run the lives of so many seeds, on every processor there is."""
    total = Report()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for report in pool.map(run, [range(first, first + AT_ONCE) for first in range(0, lives, AT_ONCE)]):
            total.add(report)
    return total
