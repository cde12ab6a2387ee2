"""Lives from seeds: what is drawn, and how often."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

from tests.whole.lives.plan import (
    Act,
    ActKind,
    ClockOf,
    ClockStep,
    Damage,
    FillStep,
    IdOn,
    Leg,
    Matching,
    Plan,
    PostFate,
    ProcessPlan,
    ReadFault,
    ReadFaultKind,
    ReplyKind,
    StrangerTrade,
    UnknownValues,
)
from tests.whole.lives.rare import (
    ALIKE_SHARE,
    FALSE_SIZES_SHARE,
    RARE,
    RARE_SHARE,
    another_reverses_alike,
    sizes_are_false_at_first,
)

ONE = Decimal(1)
LISTS_ENDED_SHARE = 0.05
"""Of all lives, those whose exchange lists orders that are over among the pending ones."""
BASE_URLS_OF_ONE_EXCHANGE = (
    "http://127.0.0.1:8765",
    "http://localhost:8765",
    "http://LOCALHOST:8765",
    "http://localhost.:8765",
    "http://[::1]:8765",
    "http://127.0.0.1:8765/",
)
TIMES = (0, 0, 1, 1, 2, 3)
"""How often one kind of weather comes in a life, one of these drawn."""
DRAWN = tuple(kind for kind in ReadFaultKind if kind is not ReadFaultKind.FALSE_SIZES)
"""Faults of reads that may come at any time. Sizes are false only until what rests on them is sent."""
READ_ENDPOINTS = (
    "position/all-position",
    "order/detail",
    "order/fills",
    "order/orders-pending",
    "account/accounts",
    "",
)


def plan_of(seed: int) -> Plan:
    """The life of a seed."""
    random = Random(f"life {seed}")
    hedge = random.random() < 0.6
    core_only = random.random() < 0.3
    long, short = _held(random, hedge=hedge)
    processes = _processes(random)
    calm = random.random() < 0.25
    lags = random.random() < 0.3
    posts = tuple(_fate(random) for _ in range(4))
    plan = Plan(
        seed=seed,
        hedge=hedge,
        core_only=core_only,
        long=long,
        short=short,
        ignores_one_way_size=random.random() < 0.3,
        shows_pending=random.random() < 0.8,
        processes=processes,
        acts=_acts(random, processes, hedge=hedge, long=long, short=short),
        posts=posts,
        clock_steps=() if calm else _clock_steps(random),
        read_faults=() if calm else _read_faults(random),
        strangers=_strangers(random),
        spelling=_unknown_values(random),
        position_lag_s=random.choice((0.0, 1.5, 8.0, 45.0)) if lags else 0.0,
        detail_lag_s=random.choice((0.0, 2.0, 20.0, 70.0)) if lags else 0.0,
        fill_lag_s=random.choice((0.0, 3.0, 30.0)) if lags else 0.0,
        lag_flaps=lags and random.random() < 0.3,
        disk_slow_share=random.choice((0.0, 0.0, 0.0, 0.02, 0.1)),
        weather_ends_s=random.choice((75.0, 90.0, 130.0)),
    )
    lists_ended = Random(f"life {seed}/lists").random() < LISTS_ENDED_SHARE
    plan = replace(plan, id_on=_id_on(Random(f"life {seed}/id")), lists_ended=lists_ended)
    # A generator of its own, so that every other seed gives the life it always gave.
    rare = Random(f"life {seed}/rare")
    plan = rare.choice(RARE)(rare, plan) if rare.random() < RARE_SHARE else plan
    alike = Random(f"life {seed}/alike")
    plan = another_reverses_alike(alike, plan) if alike.random() < ALIKE_SHARE else plan
    false_sizes = Random(f"life {seed}/false sizes")
    return sizes_are_false_at_first(false_sizes, plan) if false_sizes.random() < FALSE_SIZES_SHARE else plan


def _id_on(random: Random) -> IdOn:
    draw = random.random()
    return IdOn.OPENING_ORDER if draw < 0.1 else IdOn.NO_ORDER if draw < 0.15 else IdOn.ONE_ORDER


def _held(random: Random, *, hedge: bool) -> tuple[Decimal, Decimal]:
    sizes = tuple(Decimal(random.choice(("20", "10", "3", "0.5", "7.125"))) for _ in range(2))
    if not hedge:
        return (sizes[0], Decimal(0)) if random.random() < 0.5 else (Decimal(0), sizes[1])
    kind = random.randrange(3)
    return (sizes[0], Decimal(0)) if kind == 0 else (Decimal(0), sizes[1]) if kind == 1 else (sizes[0], sizes[1])


def _processes(random: Random) -> tuple[ProcessPlan, ...]:
    first = ProcessPlan(BASE_URLS_OF_ONE_EXCHANGE[0], "one", tells_uid=True, profile_uid=False)
    draw = random.random()
    if draw < 0.55:
        return (first,)
    if draw < 0.7:
        return (first, first)
    second = ProcessPlan(
        random.choice(BASE_URLS_OF_ONE_EXCHANGE),
        random.choice(("one", "one", "two")),
        tells_uid=random.random() < 0.6,
        profile_uid=random.random() < 0.3,
    )
    return (first, second)


def _acts(
    random: Random, processes: tuple[ProcessPlan, ...], *, hedge: bool, long: Decimal, short: Decimal
) -> tuple[Act, ...]:
    """The first reversal early, further tries soon after, and what ends processes in between."""
    acts: list[Act] = []
    side_long = bool(long) and (not short or random.random() < 0.7)
    size = random.choice((None, None, Decimal("0.5"), Decimal(3)))
    at_s = random.uniform(2.0, 6.0)
    kill_step = random.randrange(1, 260) if random.random() < 0.3 else None
    kill_state = random.choice(("", "", "intended", "sent", "unknown", "acknowledged"))
    if kill_step is not None and kill_state:
        kill_step = random.randrange(1, 12)
    acts.append(
        Act(
            at_s,
            ActKind.REVERSE,
            0,
            side_long=side_long,
            size=size,
            kill_step=kill_step,
            kill_state=kill_state,
            pause_s=random.choice((0.5, 2.0, 8.0, 30.0)),
        )
    )
    if len(processes) > 1 and random.random() < 0.4:
        together_s = at_s + random.uniform(0.0, 1.2)
        acts.append(Act(together_s, ActKind.REVERSE, 1, side_long=side_long, size=size))
    for _ in range(random.randrange(4, 12)):
        at_s += random.choice((1.5, 3.0, 5.0, 9.0, 14.0))
        acts.append(
            Act(
                at_s,
                ActKind.REVERSE,
                random.randrange(len(processes)),
                looked_s=random.choice((0.6, 0.8, 4.0)),
                side_long=side_long if random.random() < 0.6 else not side_long,
                size=size if random.random() < 0.5 else None,
            )
        )
    endings = (ActKind.KILL, ActKind.KILL, ActKind.STOP, ActKind.REBOOT)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        acts.append(
            Act(
                random.uniform(3.0, 80.0),
                random.choice(endings),
                random.randrange(len(processes)),
                pause_s=random.choice((0.3, 2.0, 10.0, 40.0)),
                damage=random.choice(tuple(Damage)) if random.random() < 0.3 else None,
            )
        )
    for _ in range(random.choice((0, 0, 1, 2))):
        acts.append(Act(random.uniform(5.0, 90.0), ActKind.RELEASE, random.randrange(len(processes))))
    return tuple(sorted(acts, key=lambda act: act.at_s))


def _fate(random: Random) -> PostFate:
    late = random.random() < 0.3
    arrives: float | None = random.choice((0.02, 0.05, 0.3))
    if late:
        arrives = random.choice((2.0, 6.0, 9.5, 12.0, 16.0, 25.0, 29.0, 33.0, 45.0))
    elif random.random() < 0.06:
        arrives = None
    replies = (
        *(ReplyKind.OK,) * 6,
        *(ReplyKind.LOST,) * (10 if late else 4),
        ReplyKind.LATE,
        ReplyKind.BROKEN,
        ReplyKind.SYSTEM_CODE,
        ReplyKind.SERVER_ERROR,
        ReplyKind.GARBLED,
        ReplyKind.FOREIGN,
        ReplyKind.NO_CLIENT_OID,
        ReplyKind.ABSURD_TIME,
        ReplyKind.LIMITED,
        ReplyKind.REFUSED,
        ReplyKind.NO_CONNECTION,
    )
    reply = random.choice(replies)
    steps: tuple[ClockStep, ...] = ()
    if random.random() < (0.6 if late else 0.15):
        clock = random.choice((ClockOf.MACHINE, ClockOf.EXCHANGE, ClockOf.EXCHANGE))
        steps = (
            ClockStep(
                random.uniform(0.2, 3.0),
                clock,
                random.choice((40.0, 40.0, 60.0, 90.0, -40.0, -60.0)),
                random.choice((5.0, 5.0, 9.0, 20.0, None)),
            ),
        )
    return PostFate(arrives, reply, _matching(random), steps)


def _matching(random: Random) -> Matching:
    begins = random.choice((0.02, 0.1, 0.6, 2.0))
    kinds = (
        *("full",) * 6,
        *("legs apart",) * 3,
        *("stays partly filled",) * 3,
        "in slices",
        "smaller",
        "closed only",
        "remainder",
        "nothing",
        "larger",
        "lying detail",
    )
    kind = random.choice(kinds)

    def close(after_s: float, share: Decimal = ONE) -> FillStep:
        return FillStep(begins + after_s, Leg.CLOSE, share)

    def opening(after_s: float, share: Decimal = ONE) -> FillStep:
        return FillStep(begins + after_s, Leg.OPEN, share)

    part = Decimal(random.choice(("0.1", "0.4", "0.65")))
    match kind:
        case "legs apart" | "lying detail":
            gap = random.choice((15.0, 25.0, 40.0, 55.0, 80.0, 120.0))
            return Matching(kind, (close(0), opening(gap)), begins + gap + 5, lies=kind == "lying detail")
        case "stays partly filled":
            stays = random.choice((8.0, 13.0, 30.0, 70.0, 110.0))
            first = (close(0, part),) if random.random() < 0.6 else (close(0), opening(0.1, part))
            rest = (close(stays), opening(stays + 0.1)) if random.random() < 0.6 else ()
            return Matching(kind, (*first, *rest), begins + stays + 1)
        case "in slices":
            gaps = [random.uniform(0.3, 12.0) for _ in range(3)]
            fills = (close(0, part), close(gaps[0]), opening(gaps[0] + gaps[1], part), opening(sum(gaps)))
            return Matching(kind, fills, begins + sum(gaps) + 1)
        case "smaller":
            return Matching(kind, (close(0), opening(0.2, part)), begins + 0.6)
        case "closed only":
            return Matching(kind, (close(0),), begins + 0.4)
        case "remainder":
            return Matching(kind, (close(0, part),), begins + 0.4)
        case "nothing":
            return Matching(kind, (), begins + 0.4)
        case "larger":
            return Matching(kind, (close(0), opening(0.1, Decimal("1.5"))), begins + 0.6)
    return Matching("full", (close(0), opening(random.choice((0.01, 0.05, 1.0)))), begins + 3.0)


def _clock_steps(random: Random) -> tuple[ClockStep, ...]:
    return tuple(
        ClockStep(
            random.uniform(1.0, 80.0),
            random.choice(tuple(ClockOf)),
            random.choice((2.0, -2.0, 20.0, 40.0, -40.0, 60.0, -60.0, 3600.0, -3600.0)),
            random.choice((1.0, 5.0, 15.0, 40.0, None)),
        )
        for _ in range(random.choice(TIMES))
    )


def _read_faults(random: Random) -> tuple[ReadFault, ...]:
    return tuple(
        ReadFault(
            random.uniform(0.0, 70.0),
            random.choice((2.0, 8.0, 25.0, 60.0)),
            random.choice(READ_ENDPOINTS),
            random.choice(DRAWN),
            random.choice((0.2, 0.5, 1.0)),
        )
        for _ in range(random.choice(TIMES))
    )


def _strangers(random: Random) -> tuple[StrangerTrade, ...]:
    if random.random() >= 0.35:
        return ()
    return tuple(
        StrangerTrade(
            random.uniform(0.5, 80.0),
            random.choice(("BTCUSDT", "ETHUSDT", "ETHUSDT")),
            random.random() < 0.5,
            Decimal(random.choice(("1", "2.5", "-0.5", "-1", "20"))),
        )
        for _ in range(random.randrange(1, 4))
    )


def _unknown_values(random: Random) -> UnknownValues:
    if random.random() > 0.12:
        return UnknownValues()
    match random.randrange(4):
        case 0:
            return UnknownValues(hold_side=random.choice(("net", "both", "BUY")))
        case 1:
            return UnknownValues(end_state=random.choice(("complete", "done", "part_canceled")))
        case 2:
            return UnknownValues(trade_side="swap_open")
    return UnknownValues(position_mode="split_mode")
