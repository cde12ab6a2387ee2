"""The reversal against the embedded exchange: every outcome named, one POST, and nothing sent where it must not be."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.sandbox.exchange_events import liquidate, place_order
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene
from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.intents.states import State, Withheld
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress
from tradetui.exchange.errors import Rejected
from tradetui.trading.holdings import Legs, Net
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)
NET = Target(SYMBOL, USDT)
BOTH_EXTENTS = pytest.mark.parametrize("core_only", [False, True], ids=["further endpoints", "core only"])


def journalled(scene_: Scene) -> list[State]:
    (intent,) = scene_.journal.newest()
    return [event.state for event in intent.events]


def last(progress: list[Progress]) -> Progress:
    return progress[-1]


@BOTH_EXTENTS
async def test_hedge_reversal_is_sent_once_and_settled(core_only: bool) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="2", short="0.5")
        end = last(await on.reverse(Target(SYMBOL, USDT, Side.BUY, Decimal("0.3"))))
        assert end.outcome is Outcome.REVERSED
        assert end.held == on.held() == Legs(Decimal("1.7"), Decimal("0.8"))
        assert on.posts == 1
        assert journalled(on) == [State.INTENDED, State.SENT, State.ACKNOWLEDGED, State.SETTLED]


@BOTH_EXTENTS
async def test_one_way_reversal_without_a_size(core_only: bool) -> None:
    async with scene("one-way", core_only=core_only) as on:
        on.hold(short="1.5")
        end = last(await on.reverse(NET))
        assert end.outcome is Outcome.REVERSED
        assert end.held == on.held() == Net(Decimal("1.5"))
        assert on.posts == 1


@BOTH_EXTENTS
@pytest.mark.parametrize(("honours", "after"), [("honour", "0.4"), ("ignore", "-1")])
async def test_one_way_with_a_size_says_which_result_came_true(core_only: bool, honours: str, after: str) -> None:
    async with scene("one-way", core_only=core_only, one_way_size=honours) as on:
        on.hold(long="1")
        preview = await on.execution.preview(Target(SYMBOL, USDT, None, Decimal("0.3")))
        assert preview.plan is not None and preview.plan.uncertain
        assert "Type BTCUSDT LONG to go on." in on.execution.blocking_reasons(preview)
        end = last(await on.reverse(Target(SYMBOL, USDT, None, Decimal("0.3"))))
        assert end.held == on.held() == Net(Decimal(after))
        assert ("size counts" in (end.came_true or "")) is (honours == "honour")


@BOTH_EXTENTS
@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("reverse-smaller", Outcome.SMALLER),
        ("closed-only", Outcome.CLOSED_ONLY),
        ("remainder", Outcome.REMAINDER),
        ("larger", Outcome.LARGER),
        ("unchanged", Outcome.UNCHANGED),
        ("liquidated", Outcome.LIQUIDATED),
        ("other", Outcome.OTHER),
    ],
)
async def test_every_outcome_is_named(core_only: bool, fault: str, outcome: Outcome) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="2", short="0.5")
        on.sandbox.faults.plan(fault)
        end = last(await on.reverse(LONG))
        if core_only and outcome in (Outcome.UNCHANGED, Outcome.OTHER):
            assert end.state is State.UNKNOWN, "without order detail absence is no evidence, nor is another's order"
            return
        assert end.outcome is outcome
        assert end.held == on.held()


@BOTH_EXTENTS
async def test_a_lost_reply_is_settled_by_what_is_found(core_only: bool) -> None:
    async with scene(core_only=core_only) as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
        progress = await on.reverse(LONG)
        assert progress[0].state is State.UNKNOWN
        assert last(progress).outcome is Outcome.REVERSED
        assert on.posts == 1
        assert journalled(on) == [State.INTENDED, State.SENT, State.UNKNOWN, State.SETTLED]


async def test_a_request_that_never_arrived_is_unchanged_only_after_the_window() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        began = on.client.clock.wall_ms()
        end = last(await on.reverse(LONG))
        assert end.outcome is Outcome.UNCHANGED
        assert on.client.clock.wall_ms() - began > 35_000
        assert on.held() == Legs(Decimal(2))


async def test_a_long_search_reads_positions_ever_less_often_and_still_ends_with_the_window() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        clock = on.client.clock
        began_s, path = clock.monotonic(), CATALOGUE["futures.positions"].path
        searching = asyncio.create_task(on.reverse(LONG))
        await asyncio.sleep(10)
        after_ten_s = on.sandbox.counts["GET", path]
        await asyncio.sleep(24)
        assert on.sandbox.counts["GET", path] - after_ten_s <= 10, "one every 1.5 s would be 16"
        assert last(await searching).outcome is Outcome.UNCHANGED
        assert 35 < clock.monotonic() - began_s < 37.5


async def test_an_order_that_was_taken_and_did_nothing_is_unchanged_after_the_window_even_without_its_reply() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("unchanged")
        on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
        began = on.client.clock.wall_ms()
        progress = await on.reverse(LONG)
        assert progress[0].state is State.UNKNOWN
        assert last(progress).outcome is Outcome.UNCHANGED
        assert on.client.clock.wall_ms() - began > 35_000
        assert on.posts == 1


async def test_core_only_a_request_that_never_arrived_stays_locked_until_released() -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        end = last(await on.reverse(LONG))
        assert end.state is State.UNKNOWN
        preview = await on.execution.preview(LONG)
        assert any("not settled" in reason for reason in on.execution.blocking_reasons(preview, preview.subject))
        (intent,) = on.journal.open_intents()
        await on.execution.release(intent.id, "looked on the exchange's own page: nothing happened")
        assert last(await on.reverse(LONG)).outcome is Outcome.REVERSED


async def test_what_may_still_arrive_is_not_released() -> None:
    async with scene(core_only=True) as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        sent = await on.confirm(LONG)
        with pytest.raises(Withheld, match="may still arrive at the exchange; in 35 s"):
            await on.execution.release(sent.intent, "looked")
        assert on.execution.intents.unsettled()
        await asyncio.sleep(36)
        await on.execution.release(sent.intent, "looked")
        assert not on.execution.intents.unsettled()


async def test_a_refusal_is_journalled_and_leaves_the_symbol_free() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        assert preview.plan is not None
        on.sandbox.exchange_state.keys[:] = [
            key
            if key.uid != on.uid
            else type(key)(**{**key.__dict__, "permissions": key.permissions - {"futures-write"}})
            for key in on.sandbox.exchange_state.keys
        ]
        with pytest.raises(Exception, match="40014") as caught:
            await on.execution.confirm(preview, preview.subject)
        assert not isinstance(caught.value, Rejected) or caught.value.code == "40014"
        assert journalled(on) == [State.INTENDED, State.SENT, State.REJECTED]
        assert not on.execution.intents.unsettled()


async def test_what_changed_since_the_preview_is_shown_instead_of_sent() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        on.hold(long="1")
        with pytest.raises(NotConfirmed, match="size 2 → 3") as caught:
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0
        assert caught.value.preview is not None
        assert caught.value.preview.before == Legs(Decimal(3))


async def test_a_new_order_or_a_moved_price_voids_the_preview() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        place_order(on.sandbox.exchange_state, on.uid, SYMBOL, "buy", "open", Decimal("0.1"), Decimal("70000"))
        with pytest.raises(NotConfirmed, match=r"new order: buy 0\.1000 at 70,000"):
            await on.execution.confirm(preview, preview.subject)
        preview = await on.execution.preview(LONG)
        on.sandbox.exchange_state.market.set_price(SYMBOL, Decimal("90000"))
        with pytest.raises(NotConfirmed, match=r"notional .* → "):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_locked_nothing_is_sent() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        on.execution.intents.set_lock(True)
        with pytest.raises(NotConfirmed, match="locked"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_with_the_settings_of_monitor_mode_or_a_key_that_reads_nothing_is_sent() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        on.execution.key_reads_only = True
        on.execution.settings = replace(on.execution.settings, read_only=True)
        with pytest.raises(NotConfirmed) as caught:
            await on.execution.confirm(preview, preview.subject)
        assert caught.value.reasons == (SendsNothing.MONITOR, SendsNothing.KEY_READS_ONLY)
        assert on.posts == 0


async def test_an_expired_preview_is_not_sent() -> None:
    import asyncio

    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        await asyncio.sleep(11)
        with pytest.raises(NotConfirmed, match="older than 10 s"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_two_confirmations_at_once_send_one() -> None:
    import asyncio

    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        results = await asyncio.gather(
            *(on.execution.confirm(preview, preview.subject) for _ in range(50)), return_exceptions=True
        )
        assert on.posts == 1
        assert sum(isinstance(result, NotConfirmed) for result in results) == 49


async def test_a_liquidation_of_the_same_size_is_not_taken_for_the_order() -> None:
    import asyncio

    async with scene(core_only=True) as on:
        on.hold(long="2")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await on.confirm(LONG)
        book = on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
        for held in list(book.holdings.values()):
            liquidate(on.sandbox.exchange_state, book, held)
        came: list[Progress] = []
        on.execution.followed.subscribe(lambda _, progress: came.append(progress))
        await asyncio.sleep(20)
        assert came and all(progress.outcome is None for progress in came), "the order may still arrive"
        assert journalled(on)[-1] is State.UNKNOWN
