"""Whatever goes wrong at whichever await of what sends and follows: one POST at most, the truth in the journal."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from tests.bench.virtual_loop import VirtualLoop
from tests.whole.injections.injection import AwaitPoint, Injected, Injector, Kind, injecting
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene, session
from tradetui.desk import task_groups
from tradetui.desk.intents.states import ENDED, Intent, State, Withheld, WrongStep, scope_of
from tradetui.desk.reversal import execution, intent_watch, market_state, sending
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.reversal.progress import Sent
from tradetui.desk.reversal.sending import Departure, Sending
from tradetui.desk.reversal.tracking import order_reads, outcome_tracker
from tradetui.exchange.calls import signed_call as calls
from tradetui.exchange.calls import writes
from tradetui.exchange.errors import ExchangeError, OutcomeUnknown
from tradetui.sandbox.gateway.faults import CallFault
from tradetui.trading.holdings import Legs
from tradetui.wire.enums import Side

MODULES = (
    execution,
    intent_watch,
    sending,
    task_groups,
    outcome_tracker,
    order_reads,
    market_state,
    writes,
    calls,
)
NEITHER_SENDS_NOR_FOLLOWS = {
    "SignedCalls.prepare": "called at the start of the program, before anything is sent",
    "SignedCalls.aclose": "called at its end",
    "network.connect": "loads the HTTP library once; here the transport is in process",
    "SignedCalls._begin": "makes the connection and loads a signing library for RSA keys, before anything is sent",
    "Execution.open_journal": "opens the journal at the start; until it has nothing is sent",
    "BackgroundTasks.finish": "leaves alerts that are being delivered some time, and no other tasks",
    "Execution.stop": "awaits the end of all tasks alone, whose own awaits are injected",
    "MarketState._product_type_of": "finds the product type of a symbol typed by hand, before anything is previewed",
}
LONG = Target(SYMBOL, USDT, Side.BUY)
KEY = scope_of(USDT, SYMBOL)
LONGEST_S = 400.0
IN_MEMORY = Path("/dev/shm")
"""Where there is one, journals are written here: no power fails, and syncs would take three quarters of the time."""
EVERY = 29
"""Of the cases of a few weathers every so many-th is in the suite, all of all of them are the campaign."""


class Weather(StrEnum):
    """What becomes of the request at the exchange, and of its reply."""

    DONE = "executed, acknowledged"
    LOST = "executed, reply lost"
    NEVER = "not executed, reply lost"
    REFUSED = "not executed, refused"
    LEFT_BEHIND = "executed, reply lost, taken up by another session"
    LATER_LEG = "closed, and opened after it was settled"
    NOTHING = "taken, and nothing was done"
    LEFT_INTENDED = "left behind before it was sent"
    LEFT_SENT = "executed, left behind before the reply was written down"
    TWO = "executed, reply lost, seen by two sessions"
    NO_CLIENT_OID = "executed, acknowledged, found by the exchange's own id alone"
    MODE_OF_ACCOUNT = "executed, acknowledged, its position mode told by the account alone"
    CONTRADICTED = "executed, acknowledged, its fills contradict what fills say of the leg they move"


SAMPLED = ((Weather.DONE, False), (Weather.LOST, False), (Weather.NEVER, True), (Weather.LEFT_SENT, False))


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    point: AwaitPoint | None
    kind: Kind
    weather: Weather
    core_only: bool
    before: tuple[tuple[AwaitPoint, Kind], ...] = ()
    """What goes wrong before, so that this await is reached at all."""

    def __str__(self) -> str:
        before = "".join(f"{kind} at {point}, then " for point, kind in self.before)
        return (
            f"{before}{self.kind} at {self.point}; {self.weather}; {'core only' if self.core_only else 'all endpoints'}"
        )


def run(case: Case, injector: Injector) -> set[AwaitPoint]:
    """Live one case through in virtual time; gives the awaits that were reached. Raises AssertionError."""
    injector.aim(*case.before, *([(case.point, case.kind)] if case.point is not None else []))
    loop = VirtualLoop()
    try:
        with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
            loop.run_until_complete(asyncio.wait_for(_live(case, injector, Path(folder) / "journal.sqlite"), 5_000))
        return set(injector.reached)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()

        async def ended() -> None:
            await asyncio.gather(*left, return_exceptions=True)

        loop.run_until_complete(ended())
        loop.close()


async def _live(case: Case, injector: Injector, file: Path) -> None:
    async with scene(core_only=case.core_only) as on:
        on.hold(long="2")
        if case.weather in _LEFT:
            async with session(on, file) as killed:
                await _left_behind(case, on, killed)
            injector.armed = True
            async with session(on, file) as other:
                await _ends(case, on, other)
            return
        if case.weather is Weather.TWO:
            async with session(on, file) as other, session(on, file) as one:
                on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
                preview = await one.preview(LONG)
                injector.armed = True
                await _confirmed(case, on, one, preview)
                await asyncio.sleep(_seen_elsewhere_s(case))
                await _ends(case, on, other)
            return
        async with session(on, file) as running:
            injector.armed = True
            preview = await _previewed(running)
            _brew(case.weather, on)
            sent = await _confirmed(case, on, running, preview)
            if sent is not None:
                following = asyncio.create_task(_followed(running, sent))
                await asyncio.sleep(LONGEST_S / 4)
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
            if case.weather is Weather.LATER_LEG and _done(on):
                on.hold(short="2")
            await _ends(case, on, running)


def _seen_elsewhere_s(case: Case) -> float:
    """After how long another session shows what is open: it looks every 0.7 s, and anew when a look has stood still.

    Until then the journal itself refuses what it would begin.
    """
    kinds = [case.kind, *(kind for _, kind in case.before)]
    return 5 + kinds.count(Kind.STALL) * intent_watch.STEP_S


def _brew(weather: Weather, on: Scene) -> None:
    faults = on.sandbox.faults
    match weather:
        case Weather.LOST:
            faults.plan("dropped-after", endpoint="futures.reverse")
        case Weather.NEVER:
            faults.plan("dropped-before", endpoint="futures.reverse")
        case Weather.REFUSED:
            on.client.server_clock._offsets.clear()
            on.client.server_clock.observe = lambda *_: None  # type: ignore[method-assign]
            faults.plan("429", endpoint="futures.reverse")
        case Weather.LATER_LEG:
            faults.plan("closed-only")
        case Weather.NOTHING:
            faults.plan("unchanged")
        case Weather.NO_CLIENT_OID:
            book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
            order = book.order
            book.order = lambda symbol, order_id, client_oid: order(symbol, order_id, None)  # type: ignore[method-assign]
        case Weather.CONTRADICTED:
            _change_rows(on, _by_direction, "/order/fills")
        case Weather.MODE_OF_ACCOUNT:
            _change_rows(on, lambda row: row.pop("posMode", None), "/all-position", "/orders-pending", "/order/fills")


def _change_rows(on: Scene, change: Callable[[dict[str, Any]], None], *paths: str) -> None:
    """From now on the rows that these paths answer are what `change` makes of them."""
    right = on.sandbox.answer

    def answer(request: Any, fault: CallFault | None = None) -> Any:
        reply = right(request, fault)
        if request.path.endswith(paths) and reply.status == 200:
            envelope = json.loads(reply.body)
            data = envelope["data"]
            for row in (data if isinstance(data, list) else next(iter((data or {}).values()), None)) or ():
                change(row)
            return replace(reply, body=json.dumps(envelope).encode())
        return reply

    on.sandbox.answer = answer  # type: ignore[method-assign]


def _by_direction(fill: dict[str, Any]) -> None:
    """The side of a closing fill is its direction, where the interface says the leg."""
    if fill["tradeSide"] == "close":
        fill["side"] = "sell" if fill["side"] == "buy" else "buy"


_LEFT = (Weather.LEFT_BEHIND, Weather.LEFT_INTENDED, Weather.LEFT_SENT)


async def _left_behind(case: Case, on: Scene, killed: Execution) -> None:
    """A session that ends in the middle of its work."""
    preview = await killed.preview(LONG)
    if case.weather is Weather.LEFT_BEHIND:
        on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
        await killed.confirm(preview, preview.subject)
        return

    attempt = Sending(
        on.client,
        killed._reads,
        killed.intents,
        on.client.clock,
        "tt-9",
        KEY,
        killed._tasks.begin,
        Departure(),
    )
    assert preview.plan is not None
    plan = preview.plan.with_client_oid("tt-9")
    await attempt._begin(plan, preview, await killed.intents.last_event(), preview.store_version)
    if case.weather is Weather.LEFT_SENT:
        await killed.intents.about_to_send("tt-9", {"stamp_ms": on.client.server_clock.now_ms})
        await on.client.write(plan.request)


async def _previewed(running: Execution) -> Preview:
    """As the dialog does: what fails is read again."""
    with suppress(Exception, asyncio.CancelledError):
        async with asyncio.timeout(30):
            await running.preview(Target(SYMBOL))
    for _ in range(3):
        with suppress(Exception, asyncio.CancelledError):
            async with asyncio.timeout(30):
                return await running.preview(LONG)
    raise AssertionError("one failure spoilt three previews")


async def _confirmed(case: Case, on: Scene, running: Execution, preview: Preview) -> Sent | None:
    try:
        async with asyncio.timeout(LONGEST_S):
            return await running.confirm(preview, preview.subject)
    except TimeoutError:
        raise AssertionError(f"confirming hangs: {case}") from None
    except OutcomeUnknown:
        raise AssertionError(f"an unknown outcome is no refusal: {case}") from None
    except (NotConfirmed, ExchangeError) as problem:  # the dialog says "not sent", or "not done"
        assert not _done(on), f"{problem}, and it was done: {case}"
        return None


async def _followed(running: Execution, sent: Sent) -> None:
    async for _ in running.follow(sent):
        pass


async def _ends(case: Case, on: Scene, running: Execution) -> None:
    """The promises, for as long as it takes."""
    for _ in range(round(LONGEST_S / 5)):
        _check(case, on, await _intents(running), running)
        await asyncio.sleep(5)
    for intent in await _intents(running):
        if intent.state in ENDED:
            continue
        assert intent.state is State.UNKNOWN, f"{intent.id} stays {intent.state}: {case}"
        settles = case.weather is not Weather.CONTRADICTED and _done(on)
        assert case.core_only and not settles, f"never settled: {[event.state for event in intent.events]}: {case}"
        for _ in range(2):  # what failed once is pressed again
            with suppress(WrongStep, Withheld, Injected, asyncio.CancelledError, TimeoutError):
                async with asyncio.timeout(60):
                    await running.release(intent.id, "looked on the exchange's own page")
    with suppress(Injected, asyncio.CancelledError, TimeoutError):  # alerts look for what ended unsaid
        async with asyncio.timeout(60):
            await running.ends_of(_same)
    await asyncio.sleep(5)
    assert not running.intents.unsettled(), f"{running.intents.unsettled()}: {case}"


async def _same(intents: frozenset[str]) -> frozenset[str]:
    return intents


async def _intents(running: Execution) -> list[Intent]:
    return await running.intents.newest()


def _done(on: Scene) -> bool:
    return on.held() != Legs(Decimal(2))


def _check(case: Case, on: Scene, intents: list[Intent], running: Execution) -> None:
    assert on.posts <= 1, f"{on.posts} POSTs: {case}"
    for intent in intents:
        if intent.state in (State.WITHDRAWN, State.REJECTED):
            assert not _done(on), f"{intent.state}, and it was done: {case}"
        if intent.state is State.SETTLED:
            outcome = intent.details["outcome"]
            assert (outcome == "unchanged") is not _done(on), f"settled as {outcome}: {case}"
        if intent.state not in ENDED:
            assert running.intents.open_scopes.holder(intent.scope), f"{intent.state} and not locked: {case}"


def cases(injector: Injector, weathers: Iterable[tuple[Weather, bool]]) -> list[Case]:
    """Every await, everything that may go wrong there, in every weather (core-only or not) in which it is reached."""
    every: list[Case] = []
    for weather, core_only in weathers:
        reached = run(Case(None, Kind.ERROR_BEFORE, weather, core_only), injector)
        every += [
            Case(point, kind, weather, core_only)
            for point in sorted(reached)
            for kind in Kind
            if point.function not in NEITHER_SENDS_NOR_FOLLOWS
        ]
    return every


def unreached(injector: Injector, reached: set[AwaitPoint]) -> list[AwaitPoint]:
    """Awaits that send or follow and that no case reaches."""
    left_out = [point for point in injector.points if point not in reached]
    return [point for point in left_out if point.function not in NEITHER_SENDS_NOR_FOLLOWS]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="tradetui")  # and back: later tests of this process read the log


def test_a_sample_of_every_await() -> None:
    with injecting(*MODULES) as injector:
        for case in cases(injector, SAMPLED)[::EVERY]:
            run(case, injector)


def test_an_attempt_that_stands_still_while_it_is_withdrawn_keeps_no_lock() -> None:
    with injecting(*MODULES) as injector:
        in_function = {point.function: point for point in reversed(injector.points)}
        before = ((in_function["Writes.write.about_to_send"], Kind.STALL),)
        run(Case(in_function["Sending._failed"], Kind.STALL, Weather.DONE, False, before), injector)


@pytest.mark.campaign
def test_every_await() -> None:
    """Also the awaits of the handling of failures, which only failures before them reach."""
    with injecting(*MODULES) as injector:
        every = cases(injector, itertools.product(Weather, (False, True)))
        reached = {case.point for case in every if case.point is not None}
        broken, done = list[str](), 0
        while every:
            case = every.pop()
            assert case.point is not None
            done += 1
            try:
                came_to = run(case, injector)
            except (AssertionError, TimeoutError, asyncio.CancelledError) as problem:
                broken.append(f"{type(problem).__name__}: {problem} [{case}]")
                continue
            new = {point for point in came_to - reached if point.function not in NEITHER_SENDS_NOR_FOLLOWS}
            reached |= new
            before = (*case.before, (case.point, case.kind))
            every += [replace(case, point=point, kind=kind, before=before) for point in new for kind in Kind]
        left_out = unreached(injector, reached)
        count = f"{done} injections at {len(reached)} of {len(injector.points)} awaits"
        print(f"{count}, unreached: {len(left_out)}")  # noqa: T201
        assert not left_out, [str(point) for point in left_out]
        assert not broken, "\n".join(broken)
