"""What a second exchange did that ended wrongly: clocks that step, orders that go on filling, foreign words."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.sandbox.exchange_events import cancel_order, open_position
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene, session
from tradetui.desk.archive.database import Archive
from tradetui.desk.desk import Desk
from tradetui.desk.events.alerts import Alerts
from tradetui.desk.events.detector import AlertDetector
from tradetui.desk.events.rules import AlertEvent, AlertSettings, Channel, Condition, Rule, RuleKind
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.states import Intent, State, Withheld
from tradetui.desk.reversal import execution as execution_module
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.market_state import MarketState
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress, Sent, sent_of
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S
from tradetui.desk.reversal.tracking.outcome_tracker import ended_elsewhere
from tradetui.desk.trading_session import TradingSession
from tradetui.exchange.errors import ExchangeError
from tradetui.sandbox import exchange_state
from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import Order, order_sides
from tradetui.sandbox.books.reversal import fill, market_order
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.faults import CallFault, ConnectionDropped
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.holdings import Legs, Net
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)
PART = Target(SYMBOL, USDT, Side.BUY, Decimal("3"))
BOTH_EXTENTS = pytest.mark.parametrize("core_only", [False, True], ids=["further endpoints", "core only"])


def states(on: Scene) -> list[State]:
    (intent,) = on.journal.newest()
    return [event.state for event in intent.events]


def heard(on: Scene) -> list[Progress]:
    """Every progress from now on."""
    came: list[Progress] = []
    on.execution.followed.subscribe(lambda _, progress: came.append(progress))
    return came


async def test_a_search_that_is_cut_short_once_it_has_written_the_end_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")

        async def cut_short(*_: object) -> None:
            raise asyncio.CancelledError

        monkeypatch.setattr(MarketState, "read_aftermath", cut_short)
        came = heard(on)
        sent = await on.confirm(PART)
        await asyncio.sleep(30)
        assert states(on)[-1] is State.SETTLED
        assert not on.execution.followed.has(sent.intent)
        assert came[-1].stage is SearchStage.ENDED and "not settled" not in " ".join(step.sentence for step in came)


# Clocks that step


def late_and_lost(on: Scene, patch: pytest.MonkeyPatch, seconds: float) -> None:
    """The reply to the next POST is lost at once, and its request arrives so much later."""
    right = Sandbox.__call__
    late: set[asyncio.Task[None]] = set()

    async def wrong(self: Sandbox, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST" or late:
            await right(self, scope, receive, send)
            return
        body = await receive()

        async def arrives() -> None:
            async def late_body() -> Any:
                return body

            async def nobody(_: Any) -> None: ...

            await asyncio.sleep(seconds)
            with suppress(ConnectionDropped):
                await right(self, scope, late_body, nobody)

        late.add(asyncio.create_task(arrives()))
        raise ConnectionDropped("lost")

    patch.setattr(Sandbox, "__call__", wrong)


def step_exchange(on: Scene, milliseconds: int) -> None:
    on.sandbox.skew_ms += milliseconds


def step_local(on: Scene, milliseconds: int) -> None:
    """This machine's wall clock steps; the exchange tells the time it told before."""
    on.client.clock._start_ms += milliseconds  # type: ignore[attr-defined]
    on.sandbox.skew_ms -= milliseconds


def step_both(on: Scene, milliseconds: int) -> None:
    on.client.clock._start_ms += milliseconds  # type: ignore[attr-defined]


@pytest.mark.parametrize("step", [step_exchange, step_local, step_both])
@pytest.mark.parametrize("milliseconds", [40_000, 60_000, -60_000])
async def test_a_clock_that_steps_is_no_evidence(
    step: Callable[[Scene, int], None], milliseconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene() as on:
        on.hold(long="20")
        late_and_lost(on, monkeypatch, 12.0)
        sent = await on.confirm(PART)
        assert sent.progress.state is State.UNKNOWN
        step(on, milliseconds)
        await asyncio.sleep(5)
        step(on, -milliseconds)
        assert on.execution.intents.unsettled()
        with pytest.raises(NotConfirmed, match="not settled"):
            await on.confirm(PART)
        await asyncio.sleep(10)
        assert on.intent.details["outcome"] == "reversed"
        assert on.held() == Legs(Decimal(17), Decimal(3))
        assert on.posts == 1


async def test_nothing_is_released_by_a_clock_that_steps() -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        sent = await on.confirm(LONG)
        step_both(on, 600_000)
        with pytest.raises(Withheld, match="may still arrive"):
            await on.execution.release(sent.intent, "looked")
        await asyncio.sleep(36)
        await on.execution.release(sent.intent, "looked")


async def test_absence_needs_the_exchanges_own_time_as_well() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await on.confirm(LONG)
        step_exchange(on, -20_000)
        await asyncio.sleep(45)
        assert on.execution.intents.unsettled(), "by its own clock the exchange may still take it"
        await asyncio.sleep(30)
        assert on.intent.details["outcome"] == "unchanged"


# Orders that are not over


class ByLegs:
    """Has the exchange carry the next reversal out leg by leg, as a test says."""

    def __init__(self, on: Scene, patch: pytest.MonkeyPatch) -> None:
        self.on = on
        self.closing: Order | None = None
        patch.setattr(exchange_state, "reverse_as", self._reverse_as)

    @property
    def book(self) -> Any:
        return self.on.sandbox.exchange_state.book(self.on.uid, "USDT-FUTURES")

    def _reverse_as(self, account: Any, requested: Any, steps: Any, *_: Any) -> Order:
        spec = CONTRACTS[SYMBOL]
        self.closing = market_order(
            account,
            spec,
            *order_sides(account.mode, steps.held.leg, closes=True),
            steps.close_size,
            self.on.sandbox.exchange_state.moment,
            source="reverse",
            client_oid=requested.client_oid,
        )
        return self.closing

    def close(self, size: str) -> None:
        assert self.closing is not None
        fill(self.book, self.closing, Decimal(size), self._moment())

    def open(self, size: str, source: str = "reverse") -> None:
        spec = CONTRACTS[SYMBOL]
        side, trade_side = order_sides(self.book.mode, "short", closes=False)
        order = market_order(self.book, spec, side, trade_side, Decimal(size), self._moment(), source=source)
        fill(self.book, order, Decimal(size), self._moment())

    def rest(self) -> Order:
        """An opening order of the reversal that does not fill."""
        side, trade_side = order_sides(self.book.mode, "short", closes=False)
        return market_order(
            self.book, CONTRACTS[SYMBOL], side, trade_side, Decimal("20"), self._moment(), source="reverse"
        )

    def _moment(self) -> Any:
        self.on.sandbox.catch_up()
        return self.on.sandbox.exchange_state.moment


@BOTH_EXTENTS
async def test_an_order_that_stays_partly_filled_is_never_settled(
    core_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        came = heard(on)
        sent = await on.confirm(LONG)
        by_legs.close("3")
        await asyncio.sleep(600)
        assert came[-1].state is State.UNKNOWN
        assert any(
            progress.stage is SearchStage.SO_FAR and "closed 3 of 20, opened 0 of 20" in progress.sentence
            for progress in came
        )
        assert all(progress.outcome is None for progress in came)
        with pytest.raises(Withheld, match="still live at the exchange"):
            await on.execution.release(sent.intent, "looked")
        with pytest.raises(NotConfirmed, match="not settled"):
            await on.confirm(LONG)
        by_legs.close("17")
        by_legs.open("20")
        await asyncio.sleep(30)
        assert came[-1].outcome is Outcome.REVERSED
        assert came[-1].held == on.held() == Legs(Decimal(0), Decimal(20))
        assert on.posts == 1


@BOTH_EXTENTS
@pytest.mark.parametrize("mode", ["hedge", "one-way"])
async def test_an_opening_leg_that_comes_later_is_waited_for(
    core_only: bool, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(mode, core_only=core_only) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        came = heard(on)
        await on.confirm(LONG if mode == "hedge" else Target(SYMBOL, USDT))
        by_legs.close("17")
        await asyncio.sleep(5)
        assert "so far, closed 17 of 20, opened 0 of 20" in came[-1].sentence
        by_legs.close("3")
        await asyncio.sleep(15)
        assert on.execution.intents.unsettled() and came[-1].stage is SearchStage.SO_FAR
        by_legs.open("20")
        await asyncio.sleep(5)
        if core_only:  # nothing but the size says that so late an order is ours: a minute without change infers it
            assert on.execution.intents.unsettled() and came[-1].stage is SearchStage.SO_FAR
            await asyncio.sleep(75)
            assert "inferred" in came[-1].sentence
        assert came[-1].outcome is Outcome.REVERSED
        assert came[-1].held == on.held()
        assert not on.execution.intents.unsettled()


async def test_what_was_corrected_is_released_after_35_seconds_like_what_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        sent = await on.confirm(LONG)
        by_legs.close("20")
        await asyncio.sleep(70)
        assert not on.execution.intents.unsettled()
        pending = by_legs.rest()
        await asyncio.sleep(12)
        assert (await on.execution.intents.read(sent.intent)).state is State.CORRECTED
        with pytest.raises(Withheld, match="still live at the exchange"):
            await on.execution.release(sent.intent, "looked at the exchange")
        cancel_order(on.sandbox.exchange_state, on.uid, SYMBOL, pending.order_id)
        await asyncio.sleep(3)
        with pytest.raises(Withheld, match=r"went on filling; in \d+ s"):
            await on.execution.release(sent.intent, "looked at the exchange")
        await asyncio.sleep(33)
        assert (await on.execution.intents.read(sent.intent)).state is State.CORRECTED
        await on.execution.release(sent.intent, "looked at the exchange")
        assert not on.execution.intents.unsettled()
        assert states(on)[-2:] == [State.CORRECTED, State.RELEASED]


async def test_what_was_released_after_its_inferred_end_is_not_watched_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        sent = await on.confirm(LONG)
        by_legs.close("20")
        await asyncio.sleep(70)
        assert states(on)[-1] is State.SETTLED and on.execution.followed.has(sent.intent)
        for state in (State.CORRECTED, State.RELEASED):
            await on.execution.intents.step(sent.intent, state, {"why": "looked at the exchange"})
        await asyncio.sleep(12)
        assert not on.execution.followed.has(sent.intent)


@BOTH_EXTENTS
async def test_a_fill_after_the_end_corrects_it_rings_and_locks_again(
    core_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        came, alerts = heard(on), AlertDetector()
        rung: list[AlertEvent] = []
        on.execution.followed.subscribe(
            lambda sent, progress: rung.extend(alerts.reversal_went_on(sent, progress, UTC))
        )
        await on.confirm(LONG)
        by_legs.close("20")
        await asyncio.sleep(70)
        assert came[-1].outcome is Outcome.CLOSED_ONLY and "inferred" in came[-1].sentence
        assert not on.execution.intents.unsettled()
        await asyncio.sleep(50)
        by_legs.open("20")
        await asyncio.sleep(85 if core_only else 25)
        assert any(progress.stage is SearchStage.CORRECTED for progress in came)
        corrected, ended = rung
        assert corrected.key.endswith(SearchStage.CORRECTED) and corrected.recurs
        outcomes = [progress.outcome for progress in came]
        assert outcomes[-1] is Outcome.REVERSED
        assert states(on)[-3:] == [State.SETTLED, State.CORRECTED, State.SETTLED]
        assert on.posts == 1
        (intent,) = on.journal.newest()
        end_of_another = ended_elsewhere(intent)
        assert (end_of_another.held, end_of_another.came_true) == (
            came[-1].held,
            came[-1].came_true,
        ) and end_of_another.came_true
        once = intent._replace(events=intent.events[:-2], state=State.SETTLED)
        first, second = (
            AlertDetector().reversal_went_on(sent_of(at), ended_elsewhere(at), UTC) for at in (once, intent)
        )
        keys = [event.key for event in (*first, *second)]
        assert keys[1] == ended.key != keys[0], "another session tells the same end, however late it does"
        assert not ended.recurs


async def test_what_was_inferred_is_watched_by_a_later_session_though_it_could_not_read_the_journal_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, failures = Intents.newest, iter([sqlite3.OperationalError("database is locked")])

    async def newest_from_the_second_time_on(self: Intents) -> list[Intent]:
        for problem in failures:
            raise problem
        return await newest(self)

    async with scene(core_only=True) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        async with session(on, tmp_path / "journal.sqlite") as former:
            preview = await former.preview(LONG)
            await former.confirm(preview, preview.subject)
            by_legs.close("20")
            await asyncio.sleep(70)
            assert not former.intents.unsettled()
        monkeypatch.setattr(Intents, "newest", newest_from_the_second_time_on)
        async with session(on, tmp_path / "journal.sqlite") as later:
            await asyncio.sleep(20)
            by_legs.open("20")
            await asyncio.sleep(20)
            (intent,) = await later.intents.newest()
            assert State.CORRECTED in [event.state for event in intent.events]


async def test_what_another_one_trades_is_not_named_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        came = heard(on)
        await on.confirm(LONG)
        by_legs.close("20")
        for _ in range(24):  # somebody else goes on trading the symbol all the while
            await asyncio.sleep(3)
            by_legs.open("1", source="normal")
        assert came[-1].outcome is Outcome.OTHER
        (intent,) = on.journal.newest()
        assert intent.details["effect"] == {"long": "0", "short": "0"}
        assert intent.details["held"]["short"] != "0"
        assert "our order alone came to flat" in came[-1].sentence


async def test_what_another_one_trades_does_not_hide_that_ours_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        came = heard(on)
        await on.confirm(LONG)
        by_legs.close("20")
        by_legs.open("20")
        by_legs.open("1", source="normal")
        await asyncio.sleep(70)
        assert came[-1].outcome is Outcome.OTHER
        assert on.intent.details["effect"] == {"long": "0", "short": "20"}


@pytest.mark.parametrize(
    ("filled", "so_far"), [("3", "closed 3 of 3, opened 3 of 3"), ("1", "closed 1 of 3, opened 1 of 3")]
)
async def test_closed_and_opened_are_two_amounts(filled: str, so_far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        right = Order.detail
        monkeypatch.setattr(Order, "detail", lambda self: {**right(self), "state": "partially_filled"})
        came = heard(on)
        await on.confirm(PART)
        by_legs.close(filled)
        by_legs.open(filled)
        assert by_legs.closing is not None
        by_legs.book.fills[-1]["orderId"] = by_legs.closing.order_id  # one order carries both legs
        await asyncio.sleep(20)
        assert f"so far, {so_far}; the order is still live" in came[-1].sentence


@pytest.mark.parametrize(
    ("sizes_reported", "so_far"), [(True, "closed 2 of 3, opened 0 of 3"), (False, "traded 2 of 6 or 40")]
)
async def test_with_a_size_in_one_way_mode_it_is_one_amount_until_the_orders_own_size_is_told(
    sizes_reported: bool, so_far: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene("one-way") as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        if not sizes_reported:
            right = Order.row
            monkeypatch.setattr(Order, "row", lambda self: {**right(self), "size": ""})
        came = heard(on)
        await on.confirm(Target(SYMBOL, USDT, size=Decimal(3)))
        by_legs.close("2")
        await asyncio.sleep(5)
        assert f"so far, {so_far}" in came[-1].sentence


# Whatever goes wrong after the first byte


async def test_a_fill_of_another_symbol_out_of_turn_ends_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        open_position(on.sandbox.exchange_state, on.uid, "ETHUSDT", "long", Decimal(1))
        came = heard(on)
        on.sandbox.faults.plan("closed-only")
        await on.confirm(LONG)
        await asyncio.sleep(5)
        book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
        newest = int(book.fills[-1]["cTime"])
        for number in range(3):  # it comes, late, below what was read already
            late = {**book.fills[-1], "tradeId": str(number), "symbol": "ETHUSDT", "orderId": "7"}
            book.fills.insert(1, {**late, "cTime": str(newest - 30_000 - number)})
            await asyncio.sleep(3)
        await asyncio.sleep(90)
        assert came[-1].outcome is Outcome.CLOSED_ONLY
        assert not on.execution.intents.unsettled()


def replies_with(on: Scene, patch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], None]) -> None:
    """The exchange does what a POST asks for, and answers something else."""
    right = Sandbox.answer

    def wrong(self: Sandbox, request: Any, fault: CallFault | None = None) -> Any:
        answer = right(self, request, fault)
        if request.method == "POST":
            body = json.loads(answer.body)
            change(body)
            return replace(answer, body=json.dumps(body).encode())
        return answer

    patch.setattr(Sandbox, "answer", wrong)


async def test_a_reply_about_another_order_is_no_acknowledgement(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        replies_with(on, monkeypatch, lambda body: body["data"].update(clientOid="somebody-else"))
        sent = await on.confirm(LONG)
        assert sent.progress.state is State.UNKNOWN and "about another order" in sent.progress.sentence
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.outcome is Outcome.REVERSED
        assert State.ACKNOWLEDGED not in states(on)


@pytest.mark.parametrize("client_oid", [{}, {"clientOid": ""}, {"clientOid": None}])
async def test_a_reply_that_leaves_our_id_out_is_an_acknowledgement(
    client_oid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene() as on:
        on.hold(long="2")
        replies_with(on, monkeypatch, lambda body: body.update(data={"orderId": body["data"]["orderId"], **client_oid}))
        sent = await on.confirm(LONG)
        assert sent.progress.state is State.ACKNOWLEDGED
        assert State.ACKNOWLEDGED in states(on)


@BOTH_EXTENTS
@pytest.mark.parametrize(("status", "code"), [(429, "1001"), (400, "40774"), (400, "40014")])
async def test_a_refusal_is_not_believed_while_the_exchange_shows_the_order(
    status: int, code: str, core_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        refuses_what_it_does(on, monkeypatch, status, code, lambda: by_legs.close("3"))
        came = heard(on)
        sent = await on.confirm(LONG)
        assert (
            sent.progress.state is State.UNKNOWN
            and "yet the exchange has an order with this id" in sent.progress.sentence
        )
        with pytest.raises(NotConfirmed, match="not settled"):
            await on.confirm(LONG)
        by_legs.close("17")
        by_legs.open("20")
        await asyncio.sleep(60)
        assert came[-1].outcome is Outcome.REVERSED
        assert State.REJECTED not in states(on)
        assert on.posts == 1


def refuses_what_it_does(
    on: Scene, patch: pytest.MonkeyPatch, status: int, code: str, meanwhile: Callable[[], None]
) -> None:
    """The exchange takes the next order, goes on with it, and answers that it did not take it."""
    right = Sandbox.answer

    def wrong(self: Sandbox, request: Any, fault: CallFault | None = None) -> Any:
        answer = right(self, request, fault)
        if request.method == "POST":
            meanwhile()
            body = json.dumps({"code": code, "msg": "no", "requestTime": 0, "data": None}).encode()
            return replace(answer, status=status, body=body)
        return answer

    patch.setattr(Sandbox, "answer", wrong)


async def test_a_time_of_400_digits_is_not_a_reversal_that_was_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        replies_with(on, monkeypatch, lambda body: body.update(requestTime=10**400))
        sent = await on.confirm(LONG)
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.outcome is Outcome.REVERSED
        assert on.posts == 1


async def test_a_confirmation_that_nobody_awaits_any_more_does_not_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        monkeypatch.setattr(on.execution.intents, "begin", later(on.execution.intents.begin, 1.0))
        confirming = asyncio.create_task(on.execution.confirm(preview, preview.subject))
        await asyncio.sleep(0.5)
        confirming.cancel()
        await asyncio.sleep(5)
        assert on.posts == 0
        assert states(on) == [State.INTENDED, State.WITHDRAWN]
        assert not on.execution.intents.unsettled()


async def test_a_reversal_that_has_left_is_followed_though_nobody_awaits_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        monkeypatch.setattr(on.client, "write", later(on.client.write, 2.0))
        confirming = asyncio.create_task(on.execution.confirm(preview, preview.subject))
        await asyncio.sleep(1)
        confirming.cancel()
        await asyncio.sleep(5)
        assert on.posts == 1
        assert states(on)[-1] is State.SETTLED


async def test_a_wait_for_what_has_left_that_fails_each_time_says_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = asyncio.shield

    def broken(awaitable: Any) -> asyncio.Future[Any]:
        if not isinstance(awaitable, asyncio.Task) or "_read_and_send" not in repr(awaitable.get_coro()):
            return right(awaitable)
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(1.0, waiting.cancel)
        return waiting

    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        monkeypatch.setattr(on.client, "write", later(on.client.write, 2.0))
        monkeypatch.setattr(asyncio, "shield", broken)
        sent = await on.execution.confirm(preview, preview.subject)
        assert sent.progress.state is State.UNKNOWN
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.outcome is Outcome.REVERSED
        assert on.posts == 1


def later(right: Callable[..., Awaitable[Any]], seconds: float) -> Callable[..., Awaitable[Any]]:
    async def wrong(*arguments: Any, **named: Any) -> Any:
        result = await right(*arguments, **named)
        await asyncio.sleep(seconds)
        return result

    return wrong


# Words that nobody knows


def position_rows_with(patch: pytest.MonkeyPatch, **changed: str) -> None:
    right = ExchangeState.positions

    def wrong(self: ExchangeState, uid: str, product_type: str) -> Any:
        return [{**row, **changed} for row in right(self, uid, product_type)]

    patch.setattr(ExchangeState, "positions", wrong)


@pytest.mark.parametrize("mode", ["hedge", "one-way"])
@pytest.mark.parametrize(
    ("field", "word"), [("holdSide", "net"), ("holdSide", "both"), ("posMode", "hybrid_mode"), ("total", "-2")]
)
async def test_a_position_with_an_unknown_word_is_not_reversed(
    mode: str, field: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(mode) as on:
        on.hold(long="2")
        position_rows_with(monkeypatch, **{field: word})
        (position,) = (await on.execution._market_state.held(USDT, SYMBOL)).positions
        if field == "holdSide":
            assert position.shown_leg == word and position.is_long is None
        preview = await on.execution.preview(on.execution.target_of(position))
        assert preview.plan is None
        with pytest.raises(NotConfirmed, match=rf"{field}.*{word}.*not known"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


@pytest.mark.parametrize("field", ["side", "tradeSide", "posMode"])
async def test_a_fill_with_an_unknown_word_sums_up_to_nothing_to_reverse(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        on.hold(long="1")
        book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
        book.fills[-1] = {**book.fills[-1], field: "sideways"}
        preview = await on.execution.preview(LONG)
        with pytest.raises(NotConfirmed, match=r"sideways.*not known"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_an_unknown_state_of_the_order_is_no_end_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        right = Order.detail
        monkeypatch.setattr(Order, "detail", lambda self: {**right(self), "state": "somewhere"})
        came = heard(on)
        await on.confirm(LONG)
        by_legs.close("20")
        await asyncio.sleep(20)
        assert on.execution.intents.unsettled()
        by_legs.open("20")
        await asyncio.sleep(5)
        assert came[-1].outcome is Outcome.REVERSED


async def test_a_refusal_of_the_side_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene("one-way") as on:
        on.hold(long="2")

        def refuse(*_: Any, **__: Any) -> Any:
            raise Refusal("40019", "Parameter side cannot be empty")

        monkeypatch.setattr(ExchangeState, "reverse", refuse)
        with pytest.raises(ExchangeError) as refused:
            await on.confirm(Target(SYMBOL, USDT))
        assert "one_way_side" in str(refused.value)
        assert on.held() == Net(Decimal(2))
        assert states(on)[-1] is State.REJECTED


@pytest.mark.parametrize("change", [{"data": None}, {"data": {"orderId": "9", "clientOid": "somebody-else"}}])
async def test_what_was_seen_once_of_an_order_is_not_forgotten(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)
        replies_with(on, monkeypatch, lambda body: body.update(change))
        came = heard(on)
        sent = await on.confirm(LONG)
        assert sent.progress.state is State.UNKNOWN
        await asyncio.sleep(3)
        assert "the order is still live" in came[-1].sentence
        by_legs.close("20")
        await asyncio.sleep(3)
        assert all("the order is not visible yet" not in progress.sentence for progress in came)
        by_legs.open("20")
        await asyncio.sleep(6)
        assert came[-1].outcome is Outcome.REVERSED
        assert came[-1].held == Legs(Decimal(0), Decimal(20))


async def test_an_end_that_a_killed_session_wrote_and_did_not_say_is_said_by_the_next_and_once(tmp_path: Path) -> None:
    rules = (Rule("unknown", Condition(RuleKind.OUTCOME_UNKNOWN), frozenset({Channel.LINE})),)
    archive = Archive(tmp_path / "archive.sqlite")
    sentences: list[str] = []

    async def begins(name: str) -> Alerts:
        alerts = Alerts(AlertSettings(rules=rules), on.client.clock, InlineDisk(), name, lambda: None)
        alerts.subscribe(lambda alert: sentences.append(f"{name}: {alert.sentence}"))
        await alerts.attach(archive)
        desk, trading = SimpleNamespace(alerts=alerts, zone=UTC), SimpleNamespace(execution=on.execution)
        await Desk._alert_what_ended_unsaid(cast("Desk", desk), cast("TradingSession", trading))
        await asyncio.sleep(1)
        return alerts

    async with scene() as on:
        on.hold(long="20")
        killed = await begins("killed")
        sent = await on.confirm(LONG)
        killed.reversal_went_on(sent, Progress(State.UNKNOWN, SearchStage.LEFT_OPEN, "no outcome"), UTC)
        await begins("too early")
        await asyncio.sleep(10)
        assert states(on)[-1] is State.SETTLED
        sentences.clear()
        await begins("while the sender is about to show it")
        assert not sentences
        await asyncio.sleep(ABSENCE_S)
        await begins("next")
        (sentence,) = sentences
        assert sentence.startswith("next: Reverse BTCUSDT LONG 20 into SHORT 20: reversed, as the journal says")
        await begins("later")
        assert len(sentences) == 1


async def test_an_end_that_no_alert_spoke_of_is_said_after_a_kill_and_one_that_was_shown_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (Rule("unknown", Condition(RuleKind.OUTCOME_UNKNOWN), frozenset({Channel.LINE})),)
    archive = Archive(tmp_path / "archive.sqlite")
    sentences: list[str] = []

    async def begins() -> Alerts:
        alerts = Alerts(AlertSettings(rules=rules), on.client.clock, InlineDisk(), "session", lambda: None)
        alerts.subscribe(lambda alert: sentences.append(alert.sentence))
        await alerts.attach(archive)
        desk, trading = SimpleNamespace(alerts=alerts, zone=UTC), SimpleNamespace(execution=on.execution)
        await Desk._alert_what_ended_unsaid(cast("Desk", desk), cast("TradingSession", trading))
        await asyncio.sleep(1)
        return alerts

    async def reversed_now() -> tuple[Sent, Progress]:
        sent = await on.confirm(LONG if on.held() == Legs(Decimal(20)) else replace(LONG, side=Side.SELL))
        [*_, last] = [progress async for progress in on.execution.follow(sent)]
        assert last.state is State.SETTLED
        await asyncio.sleep(ABSENCE_S)
        return sent, last

    async with scene() as on:
        on.hold(long="20")
        await reversed_now()  # before the account had a log of alerts
        alerts = await begins()
        shown = await reversed_now()
        alerts.reversal_went_on(*shown, UTC)
        killed_before_it_was_shown, _ = await reversed_now()
        unreadable, _ = await reversed_now()
        right = sent_of

        def readable(intent: Intent) -> Sent:
            if intent.id == unreadable.intent:
                raise KeyError("request")
            return right(intent)

        monkeypatch.setattr(execution_module, "sent_of", readable)
        assert not sentences
        await begins()
        (sentence,) = sentences
        assert killed_before_it_was_shown.intent in sentence
        assert [alert.sentence for alert in await (await begins()).delivery.newest()] == sentences
