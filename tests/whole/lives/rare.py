"""Courses of a life that need several things at the right time, which independent draws bring in one of thousands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from random import Random

from tests.whole.lives.plan import (
    Act,
    ActKind,
    ClockOf,
    ClockStep,
    FillStep,
    Leg,
    Matching,
    Plan,
    PostFate,
    ReadFault,
    ReadFaultKind,
    ReplyKind,
    StrangerTrade,
)

RARE_SHARE = 0.2
"""Of all lives."""


def clocks_step_ahead_while_unknown(random: Random, plan: Plan) -> Plan:
    """The first request arrives long after its call timed out; in between both clocks step ahead.

    Who goes on knows from the journal alone when the call ended: the process was killed, or the machine started anew,
    or the trader asks for a release.
    """
    step_s = random.uniform(11.0, 14.0)
    ahead_s = random.choice((40.0, 60.0, 90.0))
    steps = (
        ClockStep(step_s, ClockOf.MACHINE, random.choice((ahead_s, 3600.0)), random.choice((15.0, None))),
        ClockStep(step_s, ClockOf.EXCHANGE, ahead_s, random.choice((5.0, 7.0))),
    )
    sends, others = _first_reversal(plan)
    confirmed_s = sends.at_s + sends.looked_s
    ending = random.randrange(3)
    if ending == 0:
        sends = replace(sends, kill_step=random.randrange(1, 12), kill_state="unknown", pause_s=0.5)
    if ending == 1:
        others.append(Act(confirmed_s + random.uniform(10.5, 11.0), ActKind.REBOOT, pause_s=0.5))
    releases_s = confirmed_s + step_s + random.uniform(0.5, 4.0)
    others += [Act(releases_s, ActKind.RELEASE, number) for number in range(len(plan.processes))]
    fate = PostFate(random.choice((22.0, 25.0, 28.0)), ReplyKind.LOST, plan.posts[0].matching, steps)
    return replace(_with_first(plan, sends, others, fate), read_faults=())


def exchange_set_back_while_unknown(random: Random, plan: Plan) -> Plan:
    """The exchange's clock is set back, so that it takes the first request though 35 s have long passed."""
    back = ClockStep(random.uniform(0.5, 3.0), ClockOf.EXCHANGE, random.choice((-40.0, -50.0)), None)
    fate = PostFate(random.choice((45.0, 55.0)), ReplyKind.LOST, plan.posts[0].matching, (back,))
    sends, others = _first_reversal(plan)
    return replace(_with_first(plan, sends, others, fate), core_only=False)


def goes_on_unseen(random: Random, plan: Plan) -> Plan:
    """The order of the first request fills in parts, and nothing shows that it is still open."""
    gap_s = random.choice((20.0, 45.0, 80.0, 110.0))
    fills = (FillStep(0.1, Leg.CLOSE, Decimal(1)), FillStep(gap_s, Leg.OPEN, Decimal(1)))
    fate = PostFate(0.05, ReplyKind.OK, Matching("legs apart", fills, gap_s + 5))
    sends, others = _first_reversal(plan)
    weather_ends_s = max(plan.weather_ends_s, gap_s + 20)
    return replace(
        _with_first(plan, sends, others, fate), core_only=True, shows_pending=False, weather_ends_s=weather_ends_s
    )


def dies_before_it_sends(random: Random, plan: Plan) -> Plan:
    """The first reversal is intended, and its process is killed before anything of it is sent."""
    sends, others = _first_reversal(plan)
    sends = replace(sends, kill_step=random.randrange(1, 5), kill_state="intended", pause_s=0.5)
    acts = tuple(sorted((sends, *others), key=lambda act: act.at_s))
    return replace(plan, acts=acts, disk_slow_share=0.0)


def another_reverses_alike(random: Random, plan: Plan) -> Plan:
    """The first request is taken and fills late; until then somebody else reverses the same leg by the same size.

    The order is not known to order detail at once, nor are the other's fills.
    """
    sends, others = _first_reversal(plan)
    sends = replace(sends, size=None)
    symbol, trades_s = "BTCUSDT", sends.at_s + sends.looked_s + random.uniform(0.3, 1.5)
    size = plan.long if sends.side_long else plan.short
    strangers = (
        StrangerTrade(trades_s, symbol, sends.side_long, -size),
        StrangerTrade(trades_s + 0.01, symbol, not sends.side_long, size),
    )
    gap_s = random.choice((8.0, 20.0, 30.0))
    fills = (FillStep(gap_s, Leg.CLOSE, Decimal(1)), FillStep(gap_s + 0.1, Leg.OPEN, Decimal(1)))
    fate = PostFate(0.05, ReplyKind.OK, Matching("legs apart", fills, gap_s + 5))
    return replace(
        _with_first(plan, sends, others, fate),
        core_only=False,
        strangers=strangers if size else plan.strangers,
        detail_lag_s=random.choice((2.0, 20.0)),
        fill_lag_s=random.choice((0.0, 3.0, 30.0)),
        position_lag_s=0.0,
    )


def sizes_are_false_at_first(random: Random, plan: Plan) -> Plan:
    """Fills alone show what is held, and those of the first reversal come with false sizes for a while."""
    if not plan.core_only:
        return plan
    sends = next(act for act in plan.acts if act.kind is ActKind.REVERSE)
    false = ReadFault(
        sends.at_s + sends.looked_s, random.choice((4.0, 9.0, 20.0)), "order/fills", ReadFaultKind.FALSE_SIZES, 1.0
    )
    return replace(plan, read_faults=(*plan.read_faults, false))


def _first_reversal(plan: Plan) -> tuple[Act, list[Act]]:
    """The first reversal, which no fate cuts short, and what else the trader does."""
    reversals = [act for act in plan.acts if act.kind is ActKind.REVERSE]
    sends = replace(reversals[0], kill_step=None, kill_state="")
    return sends, [act for act in plan.acts if act.kind is ActKind.RELEASE] + reversals[1:]


def _with_first(plan: Plan, sends: Act, others: list[Act], fate: PostFate) -> Plan:
    acts = tuple(sorted((sends, *others), key=lambda act: act.at_s))
    return replace(plan, acts=acts, posts=(fate, *plan.posts[1:]), clock_steps=())


RARE: tuple[Callable[[Random, Plan], Plan], ...] = (
    clocks_step_ahead_while_unknown,
    exchange_set_back_while_unknown,
    goes_on_unseen,
    dies_before_it_sends,
)
FALSE_SIZES_SHARE = 0.3
"""Of the lives in which fills alone show what is held."""
ALIKE_SHARE = 0.02
"""Of all lives, those in which somebody else trades just as ours does."""
