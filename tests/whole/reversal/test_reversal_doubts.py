"""What is shown too early, too late, or by somebody else's trade is never taken for the end of a reversal."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene, session
from tests.whole.reversal.test_outcome_observed import ByLegs, refuses_what_it_does
from tests.whole.reversal.test_outcome_reads import answers_with
from tradetui.desk.feeds.polling.feed import StillReading
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.reversal.sending import Sending
from tradetui.exchange.errors import Rejected
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import order_sides
from tradetui.sandbox.books.reversal import fill, market_order
from tradetui.trading.holdings import Legs
from tradetui.ui.intents.reversal.tables.lines import decision_lines
from tradetui.ui.intents.reversal.tables.table_rows import Room
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)
REVERSE = "futures.reverse"


def states(on: Scene) -> list[State]:
    (intent,) = on.journal.newest()
    return [event.state for event in intent.events]


@asynccontextmanager
async def frozen_holdings(on: Scene, patch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Positions and fills stand still, as a server that lags shows them."""
    market_state = on.execution._market_state
    held = await market_state.held(USDT, SYMBOL)

    async def as_before(*_: object) -> object:
        return held

    with patch.context() as frozen:
        frozen.setattr(market_state, "held", as_before)
        yield


async def somebody_else_reverses(on: Scene, side: str, size: str) -> None:
    await on.client.futures.reverse(
        symbol=SYMBOL, product_type=USDT, margin_coin="USDT", side=side, size=Decimal(size), trade_side="Open"
    )


async def test_an_order_that_filled_is_not_unchanged_however_long_positions_and_fills_lag(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        async with frozen_holdings(on, monkeypatch):
            sent = await on.execution.confirm(preview, preview.subject)
            progress = [step async for step in on.execution.follow(sent)]
            assert progress[-1].state is State.UNKNOWN
            assert any("does not show it" in step.sentence for step in progress)
            assert on.execution.intents.unsettled()
        await asyncio.sleep(30)
        assert not on.execution.intents.unsettled()
        assert on.intent.details["outcome"] == "reversed"
        await on.execution.stop()


async def test_an_order_that_filled_and_was_traded_back_is_another_outcome_after_the_window() -> None:
    async with scene() as on:
        on.hold(long="2")
        sent = await on.confirm(LONG)
        await somebody_else_reverses(on, "sell", "2")
        assert on.held() == Legs(Decimal(2))
        began = on.client.clock.wall_ms()
        *_, end = [step async for step in on.execution.follow(sent)]
        assert end.outcome is Outcome.OTHER
        assert on.client.clock.wall_ms() - began > 35_000


@pytest.mark.parametrize(
    ("opened_by", "outcome"),
    [("reverse", Outcome.REVERSED), ("normal", Outcome.OTHER)],
    ids=["by the reversal", "by hand"],
)
async def test_half_of_it_is_not_the_end_while_the_other_half_may_come(
    opened_by: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene() as on:
        on.hold(long="2")
        by_legs = ByLegs(on, monkeypatch)
        following = asyncio.create_task(on.reverse(LONG))
        await asyncio.sleep(1)
        by_legs.close("2")
        await asyncio.sleep(4)
        assert not following.done()
        by_legs.open("2", opened_by)
        end = (await following)[-1]
        assert (end.outcome, end.held) == (outcome, Legs(short=Decimal(2)))


async def test_core_only_a_trade_of_the_same_size_settles_nothing_while_the_request_may_still_arrive() -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        on.sandbox.faults.plan("dropped-before", endpoint=REVERSE)
        sent = await on.execution.confirm(preview, preview.subject)
        assert sent.progress.state is State.UNKNOWN
        await somebody_else_reverses(on, "buy", "2")
        began = on.client.clock.wall_ms()
        *_, end = [step async for step in on.execution.follow(sent)]
        assert on.client.clock.wall_ms() - began > 34_000
        assert end.outcome is Outcome.REVERSED
        assert "inferred" in end.sentence


# What a request rests on when it leaves


def slow(right: Any, seconds: float, calls: Iterator[int], first: int = 0) -> Any:
    """The same, and later, from the call of that number on."""

    async def later(*arguments: Any, **named: Any) -> Any:
        result = await right(*arguments, **named)
        if next(calls) >= first:
            await asyncio.sleep(seconds)
        return result

    return later


@pytest.mark.parametrize(
    ("what", "reached"),
    [
        ("reading", []),
        ("begin", [State.INTENDED, State.WITHDRAWN]),
        ("about_to_send", [State.INTENDED, State.SENT, State.WITHDRAWN]),
    ],
)
async def test_nothing_is_sent_on_what_was_read_too_long_ago(
    monkeypatch: pytest.MonkeyPatch, what: str, reached: list[State]
) -> None:
    async with scene() as on:
        on.hold(long="2")
        execution, market_state = on.execution, on.execution._market_state
        preview = await execution.preview(LONG)
        if what == "reading":
            monkeypatch.setattr(market_state, "held", slow(market_state.held, 3.5, count()))
        else:
            monkeypatch.setattr(execution.intents, what, slow(getattr(execution.intents, what), 3.5, count()))
        with pytest.raises(NotConfirmed, match=r"3\.5 s before sending, and 3 s is the limit"):
            await execution.confirm(preview, preview.subject)
        assert on.posts == 0
        assert not execution.intents.unsettled()
        if reached:
            assert states(on) == reached
        else:
            assert states(on)[-1] is State.WITHDRAWN


async def test_nothing_is_sent_after_the_machine_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        gap = iter([0.0, 60_000.0, 60_000.0])
        monkeypatch.setattr(Sending, "_asleep_ms", lambda _: next(gap))
        with pytest.raises(NotConfirmed, match=r"60\.0 s before sending"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


@pytest.mark.parametrize("failing", ["futures.accounts", "futures.fills", "futures.positions"])
async def test_a_preview_that_failed_leaves_no_read_behind_it(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    async with scene() as on:
        on.hold(long="2")
        await on.execution.preview(LONG)

        async def read(request: Any) -> Any:
            if endpoint_of(type(request)).name != failing:
                await asyncio.Event().wait()
            await asyncio.sleep(0.1)
            raise Rejected("no", code="40034")

        monkeypatch.setattr(on.client, "read", read)
        before = asyncio.all_tasks()
        with pytest.raises(Rejected):
            await on.execution.preview(LONG)
        assert asyncio.all_tasks() == before


# A refusal


@pytest.mark.parametrize("mode", ["hedge", "one-way"])
async def test_a_refusal_is_not_believed_where_an_order_with_our_id_was_done(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    async with scene(mode) as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        right = on.client.write

        async def done_and_refused(*arguments: Any, **named: Any) -> Any:
            await right(*arguments, **named)
            raise Rejected("No position to close", code="22002")

        monkeypatch.setattr(on.client, "write", done_and_refused)
        sent = await on.execution.confirm(preview, preview.subject)
        assert sent.progress.state is State.UNKNOWN
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.outcome is Outcome.REVERSED


def close_by_hand(on: Scene, size: str) -> None:
    market, book = on.sandbox.exchange_state, on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
    sides = order_sides(book.mode, "long", closes=True)
    order = market_order(book, CONTRACTS[SYMBOL], *sides, Decimal(size), market.moment, source="normal")
    fill(book, order, Decimal(size), market.moment)


async def refused_beside(on: Scene, patch: pytest.MonkeyPatch, does: Callable[[], Awaitable[None]]) -> Sent:
    """Another machine does something the moment before ours arrives, and the exchange refuses ours: no position."""
    preview = await on.execution.preview(LONG)
    right = on.client.write

    async def later(*arguments: Any, **named: Any) -> Any:
        patch.setattr(on.client, "write", right)
        await does()
        return await right(*arguments, **named)

    patch.setattr(on.client, "write", later)
    return await on.execution.confirm(preview, preview.subject)


BOTH_EXTENTS = pytest.mark.parametrize("core_only", [False, True], ids=["further endpoints", "core only"])


@BOTH_EXTENTS
@pytest.mark.parametrize(
    ("closes_by_hand", "attribution"),
    [
        (False, "the position is already SHORT 20, by orders that were not ours"),
        (True, "the position is flat, by orders that were not ours"),
    ],
    ids=["reverses", "closes by hand"],
)
async def test_a_refused_reversal_is_not_done_where_another_machine_traded_its_size(
    core_only: bool, closes_by_hand: bool, attribution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="20")

        async def does() -> None:
            if closes_by_hand:
                close_by_hand(on, "20")
            else:
                await somebody_else_reverses(on, "buy", "20")

        sent = await refused_beside(on, monkeypatch, does)
        assert "code 22002), yet the requested size was traded, perhaps by somebody else's" in sent.progress.sentence
        began_s = on.client.clock.monotonic()
        _, *searching, end = [step async for step in on.execution.follow(sent)]
        assert searching
        assert all("not done so far" in step.sentence for step in searching)
        assert all("by orders not known to be ours" in step.sentence for step in searching)
        assert on.client.clock.monotonic() - began_s > 34.9, "an order with its id may still be shown"
        assert (end.outcome, end.came_true) == (Outcome.NOT_DONE, None)
        assert end.sentence.startswith(f"not done; {attribution}")
        assert ("inferred" in end.sentence) is core_only
        assert on.intent.end == f"not done; {attribution}"
        await asyncio.sleep(1_000)
        assert states(on)[-1] is State.SETTLED
        assert not on.execution.intents.unsettled()


async def test_a_later_session_knows_that_the_exchange_refused_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="20")
        async with session(on, tmp_path / "journal.sqlite") as killed:
            monkeypatch.setattr(on, "execution", killed)
            sent = await refused_beside(on, monkeypatch, lambda: somebody_else_reverses(on, "buy", "20"))
        async with session(on, tmp_path / "journal.sqlite") as later:
            await asyncio.sleep(100)
            intent = await later.intents.read(sent.intent)
            assert intent.details["outcome"] == Outcome.NOT_DONE


async def test_core_only_a_refused_order_that_is_shown_as_pending_once_is_ours_to_every_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = [True]

    def hide(_: Any, envelope: dict[str, Any]) -> None:
        if hidden:
            envelope["data"]["entrustedList"] = None

    async with scene(core_only=True) as on:
        on.hold(long="20")
        answers_with(monkeypatch, "orders-pending", hide)
        by_legs = ByLegs(on, monkeypatch)
        async with session(on, tmp_path / "journal.sqlite") as killed:
            preview = await killed.preview(LONG)
            refuses_what_it_does(on, monkeypatch, 400, "22002", lambda: by_legs.close("20"))
            sent = await killed.confirm(preview, preview.subject)
            assert "yet the requested size was traded" in sent.progress.sentence
            opening = by_legs.rest()
            opening.client_oid = sent.intent
            hidden.clear()
            await asyncio.sleep(10)
        fill(by_legs.book, opening, Decimal(20), on.sandbox.exchange_state.moment)
        async with session(on, tmp_path / "journal.sqlite") as later:
            await asyncio.sleep(120)
            intent = await later.intents.read(sent.intent)
            assert intent.details["outcome"] == Outcome.REVERSED


async def test_a_pending_reversal_of_another_machine_is_not_the_refused_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="20")
        by_legs = ByLegs(on, monkeypatch)

        async def closes_and_goes_on() -> None:
            close_by_hand(on, "20")
            by_legs.rest()

        sent = await refused_beside(on, monkeypatch, closes_and_goes_on)
        *_, end = [step async for step in on.execution.follow(sent)]
        assert end.outcome is Outcome.NOT_DONE


async def test_core_only_what_others_trade_meanwhile_does_not_make_a_refusal_doubtful(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)

        async def refused(*arguments: Any, before_send: Any, **named: Any) -> Any:
            await before_send(on.client.server_clock.now_ms)
            on.hold(long="3")
            raise Rejected("No position to close", code="22002")

        monkeypatch.setattr(on.client, "write", refused)
        with pytest.raises(Rejected):
            await on.execution.confirm(preview, preview.subject)
        assert not on.execution.intents.unsettled()


# Other sessions


async def test_a_running_session_takes_up_what_another_one_left_behind(tmp_path: Path) -> None:
    file = tmp_path / "account" / "journal.sqlite"
    async with scene() as on, session(on, file) as other:
        on.hold(long="2")
        async with session(on, file) as killed:
            preview = await killed.preview(LONG)
            on.sandbox.faults.plan("dropped-after", endpoint=REVERSE)
            sent = await killed.confirm(preview, preview.subject)
            assert sent.progress.state is State.UNKNOWN
        await asyncio.sleep(1)
        assert other.intents.unsettled(), "and it is locked there until then"
        await asyncio.sleep(8)
        assert not other.intents.unsettled()
        assert (await other.intents.read(sent.intent)).details["outcome"] == "reversed"
        assert on.posts == 1


async def test_two_sessions_that_follow_one_reversal_write_its_end_once(tmp_path: Path) -> None:
    file = tmp_path / "account" / "journal.sqlite"
    async with scene() as on, session(on, file) as one, session(on, file) as other:
        on.hold(long="2")
        preview = await one.preview(LONG)
        on.sandbox.faults.plan("dropped-before", endpoint=REVERSE)
        sent = await one.confirm(preview, preview.subject)
        progress: list[Progress] = [step async for step in one.follow(sent)]
        assert progress[-1].outcome is Outcome.UNCHANGED
        await asyncio.sleep(2)
        intent = await other.intents.read(sent.intent)
        assert [event.state for event in intent.events] == [
            State.INTENDED,
            State.SENT,
            State.UNKNOWN,
            State.SETTLED,
        ]
        assert not one.intents.unsettled() and not other.intents.unsettled()


async def test_a_lock_that_others_do_not_see_is_told_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "account" / "journal.sqlite"
    async with scene() as on, session(on, file) as one, session(on, file) as other:

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "set_trading_lock", full)
            assert not await one.intents.set_lock(True)
            await asyncio.sleep(2)
            assert one.intents.locked and one.intents.lock.unwritten is not None
            assert not other.intents.locked
        await asyncio.sleep(2)
        assert one.intents.lock.unwritten is None
        assert other.intents.locked


# What fills do not prove


async def test_what_fills_do_not_prove_is_named_before_and_after() -> None:
    async with scene(core_only=True, clear=False) as on:
        held = await on.execution._market_state.held(USDT, SYMBOL)
        side = (
            Side.BUY
            if any(position.symbol == SYMBOL and position.is_long for position in held.positions)
            else Side.SELL
        )
        target = Target(SYMBOL, USDT, side)
        preview = await on.execution.preview(target)
        assert "fills since" in preview.unproven()
        assert preview.unproven().partition(";")[0].endswith(" UTC")
        zone = timezone(timedelta(hours=9), "JST")
        decisive = [row.plain for row in decision_lines(preview, (), Room(109, 36), zone)]
        assert any("NOT PROVEN: summed from fills since" in row and " JST;" in row for row in decisive)
        sent_request = preview.as_json(on.execution.settings, ())
        assert any("not proven" in assumption for assumption in sent_request["assumptions"])
        sent = await on.execution.confirm(preview, preview.subject)
        *_, end = [step async for step in on.execution.follow(sent)]
        assert "not proven" in end.sentence
        assert on.intent.details["proven"] is False


async def test_a_journal_that_cannot_be_read_leaves_the_preview_and_keeps_it_from_being_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="2")

        async def fails() -> object:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(on.execution.intents, "contradiction", fails)
        preview = await on.execution.preview(LONG)
        assert preview.plan is not None
        with pytest.raises(NotConfirmed, match="disk I/O error"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_what_may_be_in_rows_that_cannot_be_read_is_not_said_to_be_held_by_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="2")
        held = await on.execution._market_state.held(USDT, SYMBOL)

        async def unread(*_: object) -> object:
            return replace(held, positions=(), unread=1)

        monkeypatch.setattr(on.execution._market_state, "held", unread)
        preview = await on.execution.preview(LONG)
        reason = "The position is not certain: 1 row of positions or fills could not be read."
        assert on.execution.blocking_reasons(preview, "") == (reason,)


async def test_fills_that_are_read_again_are_a_reason_to_go_on_looking_and_no_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene() as on:
        on.hold(long="2")
        sent = await on.confirm(LONG)
        held = on.execution._market_state.held
        problems = iter([StillReading("older fills are being read")])

        async def read_again(*of: Any) -> object:
            for problem in problems:
                raise problem
            return await held(*of)

        monkeypatch.setattr(on.execution._market_state, "held", read_again)
        sentences = [progress.sentence async for progress in on.execution.follow(sent)]
        assert "searching: older fills are being read" in sentences
        assert not caplog.records


async def test_fills_that_are_still_being_read_when_a_reversal_is_confirmed_are_said_in_the_readers_own_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)

        async def reads_on(*_: object) -> object:
            raise StillReading("Older fills are being read")

        monkeypatch.setattr(on.execution._market_state, "held", reads_on)
        with pytest.raises(NotConfirmed) as refusal:
            await on.execution.confirm(preview, preview.subject)
        assert str(refusal.value) == "Older fills are being read."
        assert on.posts == 0
