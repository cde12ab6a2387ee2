"""Reads of an outcome by an exchange that keeps less than it might: no client id, rows twice, answers of no use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.exchange_events import cancel_order
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, another_session, scene, session
from tests.whole.reversal.test_outcome_observed import ByLegs
from tradetui.desk.intents.journal.registered_journal import JournalLocation, JournalReader
from tradetui.desk.intents.states import State, Withheld
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.reversal.tracking.order_reads import MOST_ORDERS_LOOKED_UP
from tradetui.desk.reversal.tracking.outcome_tracker import LOOK_EVERY_S, ended_elsewhere
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.orders import order_sides
from tradetui.sandbox.books.reversal import fill, market_order
from tradetui.sandbox.gateway.faults import CallFault
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)
DETAIL, FILLS, PENDING = "order/detail", "order/fills", "orders-pending"
BOTH_EXTENTS = pytest.mark.parametrize("core_only", [False, True], ids=["further endpoints", "core only"])
NO_SUCH_ORDER = {"code": "40109", "data": None}


def answers_with(patch: pytest.MonkeyPatch, path: str, change: Callable[[Any, dict[str, Any]], None]) -> None:
    """Reads of this path answer what `change` makes of their envelope."""
    right = Sandbox.answer

    def wrong(self: Sandbox, request: Any, fault: CallFault | None = None) -> Any:
        answer = right(self, request, fault)
        if request.path.endswith(path):
            envelope = json.loads(answer.body)
            change(request, envelope)
            return replace(answer, body=json.dumps(envelope).encode())
        return answer

    patch.setattr(Sandbox, "answer", wrong)


def keep_no_client_oid(patch: pytest.MonkeyPatch) -> None:
    """The exchange takes our id and knows the order by its own alone."""

    def forget(request: Any, envelope: dict[str, Any]) -> None:
        if "clientOid" in request.query:
            envelope.update(NO_SUCH_ORDER)
        elif envelope["data"]:
            envelope["data"]["clientOid"] = ""

    def forget_all(_: Any, envelope: dict[str, Any]) -> None:
        for row in envelope["data"]["entrustedList"] or ():
            row["clientOid"] = ""

    answers_with(patch, DETAIL, forget)
    answers_with(patch, PENDING, forget_all)


async def reverse_without_reply(on: Scene) -> Sent:
    """Confirm the reversal of the LONG, which the exchange takes, and lose its reply."""
    on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
    return await on.confirm(LONG)


@asynccontextmanager
async def closed_in_part(
    patch: pytest.MonkeyPatch, change_detail: Callable[[Any, dict[str, Any]], None], *, hides_pending: bool = False
) -> AsyncIterator[tuple[Scene, ByLegs]]:
    """A LONG of 20 of which a reversal without a reply has closed 7, at an exchange that keeps no client id.

    `hides_pending` has it show no pending order from then on.
    """

    def hide(_: Any, envelope: dict[str, Any]) -> None:
        envelope["data"] = {"entrustedList": None}

    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(patch)
        answers_with(patch, DETAIL, change_detail)
        by_legs = ByLegs(on, patch)
        await reverse_without_reply(on)
        if hides_pending:
            answers_with(patch, PENDING, hide)
        by_legs.close("7")
        yield on, by_legs


def fill_other_order(on: Scene, *, closes: bool = False, size: int = 1) -> str:
    """Fill 1 of somebody's order on the LONG; its id."""
    market, book = on.sandbox.exchange_state, on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
    sides = order_sides(book.mode, "long", closes=closes)
    order = market_order(book, CONTRACTS[SYMBOL], *sides, Decimal(size), market.moment, source="normal")
    fill(book, order, Decimal(1), market.moment)
    return order.order_id


async def reversed_for(on: Scene, seconds: float) -> dict[str, Any]:
    """What the journal says so long after everything was reversed."""
    await on.confirm(LONG)
    await asyncio.sleep(seconds)
    (intent,) = on.journal.newest()
    return {"state": intent.state, **intent.details}


@BOTH_EXTENTS
async def test_a_fill_that_comes_twice_is_one(core_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(_: Any, envelope: dict[str, Any]) -> None:
        rows = envelope["data"]["fillList"] or []
        envelope["data"]["fillList"] = [row for row in rows for _ in range(2)]

    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, twice)
        assert (await reversed_for(on, 3))["outcome"] == Outcome.REVERSED


async def test_halves_of_one_trade_on_two_pages_are_two_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    second_page: list[dict[str, Any]] = []

    def cut_between_them(request: Any, envelope: dict[str, Any]) -> None:
        rows = envelope["data"]["fillList"] or []
        if second_page and "idLessThan" in request.query:
            envelope["data"].update(fillList=second_page[:], endId=second_page[-1]["tradeId"])
        elif "symbol" in request.query and [row["tradeSide"] for row in rows[:2]] == ["open", "close"]:
            opening, *second_page[:] = rows
            opening |= {"tradeId": rows[1]["tradeId"], "orderId": rows[1]["orderId"]}
            envelope["data"].update(fillList=[opening], endId=opening["tradeId"])

    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, cut_between_them)
        intent = await reversed_for(on, 3)
        assert second_page
        assert (intent["outcome"], intent["final"]) == (Outcome.REVERSED, True)


async def test_rows_of_other_symbols_than_the_one_asked_for_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    resting = {"size": "1", "orderSource": "reverse", "status": "live", "cTime": "1893456000000", "orderId": "7"}

    def add_fills(_: Any, envelope: dict[str, Any]) -> None:
        rows = envelope["data"]["fillList"] or []
        others = [{**row, "symbol": "ETHUSDT", "tradeId": f"7{index}"} for index, row in enumerate(rows)]
        envelope["data"]["fillList"] = [*others, *rows]

    def add_order(_: Any, envelope: dict[str, Any]) -> None:
        rows = envelope["data"]["entrustedList"] or []
        envelope["data"]["entrustedList"] = [*rows, {**resting, "symbol": "ETHUSDT"}]

    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, add_fills)
        answers_with(monkeypatch, PENDING, add_order)
        assert (await reversed_for(on, 3))["outcome"] == Outcome.REVERSED


async def test_a_preview_says_that_orders_and_stops_which_cannot_be_read_are_missing_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def add_unreadable(request: Any, envelope: dict[str, Any]) -> None:
        envelope["data"]["entrustedList"] = [{"orderId": "7", "symbol": SYMBOL, "size": "much"}]

    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, "orders-plan-pending", add_unreadable)
        first = await on.execution.preview(LONG)
        assert first.plan is not None and first.resting == ()
        assert first.estimates is not None and first.estimates.stop is None, "one may be among them"
        assert first.plan.assumptions[0] == "3 rows of orders and stops cannot be read: their effect is not shown"
        answers_with(monkeypatch, PENDING, add_unreadable)
        again = await on.execution._market_state.reread(first)
        assert again.plan is not None
        assert again.plan.assumptions[0] == "5 rows of orders and stops cannot be read: their effect is not shown"


@BOTH_EXTENTS
async def test_an_order_listed_as_pending_though_it_is_filled_is_over(
    core_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = {"orderId": "7", "symbol": SYMBOL, "side": "buy", "tradeSide": "open", "posMode": "hedge_mode"}
    filled |= {"status": "filled", "orderSource": "reverse", "cTime": "1893456000000", "size": "40"}

    def list_filled(_: Any, envelope: dict[str, Any]) -> None:
        envelope["data"]["entrustedList"] = [filled]

    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        answers_with(monkeypatch, PENDING, list_filled)
        assert (await reversed_for(on, 3))["outcome"] == Outcome.REVERSED


async def test_a_key_that_answers_for_another_account_settles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier: dict[str, Any] = {"symbol": SYMBOL, "side": "buy", "tradeSide": "open", "posMode": "hedge_mode"}
    earlier |= {
        "cTime": "1793400000000",
        "baseVolume": "20",
        "price": "80000",
        "quoteVolume": "1600000",
        "profit": "0",
        "feeDetail": [],
    }
    newest = "1"

    def show(_: Any, envelope: dict[str, Any]) -> None:
        envelope["data"]["fillList"] = [earlier | {"tradeId": newest, "orderId": newest}]

    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, show)
        preview = await on.execution.preview(LONG)
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await on.execution.confirm(preview, preview.subject)
        newest = "2"
        await asyncio.sleep(100)
        assert on.intent.state is State.UNKNOWN


@BOTH_EXTENTS
async def test_fills_of_ours_below_a_short_page_are_read(core_only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_one(_: Any, envelope: dict[str, Any]) -> None:
        if rows := (envelope["data"]["fillList"] or [])[:1]:
            envelope["data"] |= {"fillList": rows, "endId": rows[0]["tradeId"]}

    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, give_one)
        intent = await reversed_for(on, 3)
        assert (intent["outcome"], intent["inferred"]) == (Outcome.REVERSED, False)


@pytest.mark.parametrize(
    "answer",
    [
        {"data": None},
        {"data": {"orderId": "9", "clientOid": "somebody-else", "symbol": SYMBOL, "state": "live"}},
        {"code": "98765", "msg": "no", "data": None},
        {"code": "40034", "msg": "Parameter orderId does not exist", "data": None},
    ],
    ids=["empty", "another order", "unknown refusal", "other refusal"],
)
async def test_an_order_detail_of_no_use_holds_up_nothing_that_the_rest_shows(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, DETAIL, lambda _, envelope: envelope.update(answer))
        assert (await reversed_for(on, 3))["outcome"] == Outcome.REVERSED


async def test_an_order_detail_of_no_use_is_no_proof_that_there_is_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        answers_with(monkeypatch, DETAIL, lambda _, envelope: envelope.update(code="00000", data=None))
        assert (await reversed_for(on, 300))["state"] is State.UNKNOWN


async def test_what_a_reversal_did_is_inferred_where_the_exchange_keeps_no_client_oid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        await reverse_without_reply(on)
        await asyncio.sleep(50)
        assert on.execution.intents.unsettled(), "its opening leg may still come"
        await asyncio.sleep(30)
        assert (on.intent.details["outcome"], on.intent.details["inferred"]) == (Outcome.REVERSED, True)


async def test_core_only_a_reply_that_is_lost_is_reversed_so_far_once_its_fills_are_visible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No fill carries an id of ours: the screen says so, and it is settled as inferred a minute later."""
    async with scene(core_only=True) as on:
        on.hold(long="20")
        clock, known = on.client.clock, {row["tradeId"] for row in on.sandbox.exchange_state.book(on.uid, USDT).fills}
        began_s = clock.monotonic()

        def come_late(_: Any, envelope: dict[str, Any]) -> None:
            rows = envelope["data"]["fillList"] or []
            if clock.monotonic() - began_s < 3:
                rows = [row for row in rows if row["tradeId"] in known]
            envelope["data"]["fillList"] = rows

        answers_with(monkeypatch, FILLS, come_late)
        steps: list[tuple[float, Progress]] = []
        sent = await reverse_without_reply(on)
        async for progress in on.execution.follow(sent):
            steps.append((clock.monotonic() - began_s, progress))
        (first_s, first), *_ = (step for step in steps if step[1].stage is SearchStage.SO_FAR)
        assert first_s < 3 + 2 * LOOK_EVERY_S[1]
        assert first.sentence == ("reversed so far, by the fills: SHORT 20; the fills may be of somebody else's order")
        ended_s, end = steps[-1]
        assert first_s + 60 <= ended_s < first_s + 70
        assert end.outcome is Outcome.REVERSED
        assert "held now: SHORT 20 (inferred: the fills may be of somebody else's order)" in end.sentence
        (intent,) = on.journal.newest()
        assert intent.end == "reversed; the fills may be of somebody else's order"
        assert ended_elsewhere(intent).sentence == f"{intent.end}, as the journal says"


@pytest.mark.parametrize("answer", [{"data": None}, {"data": {"orderId": []}}, {"code": "98765", "data": None}])
async def test_what_made_an_order_is_asked_again_after_an_answer_of_no_use(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken for somebody else's, ours would be settled as absent while its opening leg may still come."""
    useless = [answer] * 4

    def spoil(request: Any, envelope: dict[str, Any]) -> None:
        if "orderId" in request.query and useless:
            envelope.update(useless.pop())

    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        answers_with(monkeypatch, DETAIL, spoil)
        await reverse_without_reply(on)
        await asyncio.sleep(150)
        (intent,) = on.journal.newest()
        assert not useless
        assert (intent.details["outcome"], intent.details["inferred"]) == (Outcome.REVERSED, True)


async def test_ours_is_looked_up_however_many_live_orders_of_others_fill_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        await reverse_without_reply(on)
        for number in range(MOST_ORDERS_LOOKED_UP + 1):
            fill_other_order(on, closes=bool(number % 2), size=2)
        await asyncio.sleep(150)
        assert (on.intent.details["outcome"], on.intent.details["inferred"]) == (Outcome.REVERSED, True)


@pytest.mark.parametrize("denied", [True, False], ids=["denied", "not readable"])
async def test_an_order_once_live_by_its_own_id_locks_no_longer_than_it_is_shown(
    denied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden: list[bool] = []

    def deny(_: Any, envelope: dict[str, Any]) -> None:
        if hidden:
            envelope.update(NO_SUCH_ORDER)

    def hide(_: Any, envelope: dict[str, Any]) -> None:
        if hidden:
            envelope.update({"data": {"entrustedList": None}} if denied else {"code": "50000", "data": None})

    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        answers_with(monkeypatch, DETAIL, deny)
        answers_with(monkeypatch, PENDING, hide)
        by_legs = ByLegs(on, monkeypatch)
        sent = await reverse_without_reply(on)
        by_legs.close("7")
        await asyncio.sleep(60)
        hidden.append(True)
        await asyncio.sleep(20)
        with pytest.raises(Withheld, match="still live at the exchange"):
            await on.execution.release(sent.intent, "looked at the exchange")
        await asyncio.sleep(50)
        if denied:
            assert (on.intent.details["outcome"], on.intent.details["inferred"]) == (Outcome.REMAINDER, True)
        else:
            await on.execution.release(sent.intent, "looked at the exchange")
            assert not on.execution.intents.unsettled()


async def test_an_order_live_by_its_own_id_is_followed_among_many_of_which_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ended by what it has filled, it would let a second reversal leave while it can still fill."""

    def hide_others(_: Any, envelope: dict[str, Any]) -> None:
        if envelope["data"] and envelope["data"].get("orderSource") == "normal":
            del envelope["data"]["orderSource"]

    async with closed_in_part(monkeypatch, hide_others, hides_pending=True) as (on, _):
        await asyncio.sleep(5)
        for number in range(2 * MOST_ORDERS_LOOKED_UP):
            fill_other_order(on, closes=bool(number % 2))
        await asyncio.sleep(400)
        assert on.intent.state is State.UNKNOWN


async def test_an_order_of_ours_is_looked_up_among_any_number_of_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """New orders that come faster than they are looked up keep no older one from its turn."""
    sources: list[str] = []

    def note_source(_: Any, envelope: dict[str, Any]) -> None:
        if envelope["data"]:
            sources.append(envelope["data"].get("orderSource"))

    async with closed_in_part(monkeypatch, note_source) as (on, _):
        for number in range(40):
            for _ in range(4 if number else 2 * MOST_ORDERS_LOOKED_UP):
                fill_other_order(on)
            await asyncio.sleep(0.1)
        assert "normal" in sources
        assert "reverse" in sources


async def test_an_ended_order_of_no_source_is_looked_up_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def leave_source_out(_: Any, envelope: dict[str, Any]) -> None:
        if envelope["data"]:
            looked_up.append(envelope["data"]["orderId"])
            envelope["data"].pop("orderSource")

    async with closed_in_part(monkeypatch, leave_source_out) as (on, _):
        order_id = fill_other_order(on)
        await asyncio.sleep(20)
        assert looked_up.count(order_id) == 2
        assert len(set(looked_up)) == 2
        assert len(looked_up) > 5, "what is live is looked up again"


@pytest.mark.parametrize("left_out_s", [60, 600], ids=["for a while", "always"])
async def test_ours_is_not_absent_while_the_source_of_an_order_that_did_as_planned_is_left_out(
    left_out_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exchange keeps no id of ours: only the source tells that an order is the reversal's."""

    def leave_source_out(_: Any, envelope: dict[str, Any]) -> None:
        if envelope["data"] and on.client.clock.wall_ms() - began_ms < left_out_s * 1000:
            envelope["data"].pop("orderSource")

    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        began_ms = on.client.clock.wall_ms()
        answers_with(monkeypatch, DETAIL, leave_source_out)
        sent = await reverse_without_reply(on)
        await asyncio.sleep(150)
        (intent,) = on.journal.newest()
        if left_out_s == 60:
            assert (intent.details["outcome"], intent.details["inferred"]) == (Outcome.REVERSED, True)
            return
        assert intent.state is State.UNKNOWN, "it may be ours, or another's"
        await on.execution.release(sent.intent, "seen on the exchange's site")
        assert not on.execution.intents.unsettled()


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "live"])
async def test_the_source_of_an_order_of_ours_that_is_left_out_later_is_not_forgotten(
    ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out: list[bool] = []

    def leave_source_out(_: Any, envelope: dict[str, Any]) -> None:
        if left_out and envelope["data"]:
            envelope["data"].pop("orderSource", None)

    async with closed_in_part(monkeypatch, leave_source_out, hides_pending=True) as (on, by_legs):
        await asyncio.sleep(5)
        left_out.append(True)
        if ended:
            assert by_legs.closing is not None
            cancel_order(on.sandbox.exchange_state, on.uid, SYMBOL, by_legs.closing.order_id)
        await asyncio.sleep(200)
        (intent,) = on.journal.newest()
        if ended:
            assert (intent.details["outcome"], intent.details["inferred"]) == (Outcome.REMAINDER, True)
        else:
            assert intent.state is State.UNKNOWN


async def test_the_source_of_our_own_order_that_is_left_out_later_tells_it_from_others_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left_out: list[bool] = []

    def leave_own_source_out(_: Any, envelope: dict[str, Any]) -> None:
        if left_out and envelope["data"] and envelope["data"]["clientOid"] == "tt-0":
            del envelope["data"]["orderSource"]

    async with scene() as on:
        on.hold(long="20")
        answers_with(monkeypatch, DETAIL, leave_own_source_out)
        by_legs = ByLegs(on, monkeypatch)
        await on.confirm(LONG)
        await asyncio.sleep(3)
        left_out.append(True)
        by_legs.close("20")
        by_legs.open("7", source="normal")
        await asyncio.sleep(70)
        (intent,) = on.journal.newest()
        assert intent.details["effect"] == {"long": "0", "short": "0"}
        assert intent.details["outcome"] == Outcome.OTHER


async def test_what_another_one_orders_is_not_inferred_to_be_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        on.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await on.confirm(LONG)
        market, book = on.sandbox.exchange_state, on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES")
        close = order_sides(book.mode, "long", closes=True)
        order = market_order(book, CONTRACTS[SYMBOL], *close, Decimal(20), market.moment, source="normal")
        fill(book, order, Decimal(20), market.moment)
        await asyncio.sleep(45)
        assert (on.intent.details["outcome"], on.intent.details["inferred"]) == (Outcome.OTHER, False)


async def test_an_order_of_no_client_oid_is_found_by_the_id_in_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="20")
        keep_no_client_oid(monkeypatch)
        by_legs = ByLegs(on, monkeypatch)
        await on.confirm(LONG)
        assert by_legs.closing is not None
        cancel_order(on.sandbox.exchange_state, on.uid, SYMBOL, by_legs.closing.order_id)
        await asyncio.sleep(40)
        assert on.intent.details["outcome"] == Outcome.UNCHANGED


async def test_an_order_whose_fill_names_the_other_leg_stays_open_with_the_reason_until_it_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Core-only, by an exchange whose `side` is a direction where the interface says the leg."""

    def by_direction(_: Any, envelope: dict[str, Any]) -> None:
        for row in envelope["data"]["fillList"] or ():
            if row["tradeSide"] == "close":
                row["side"] = "sell" if row["side"] == "buy" else "buy"

    answers_with(monkeypatch, FILLS, by_direction)
    async with scene(core_only=True) as on:
        on.hold(long="20")
        sent = await on.confirm(LONG)
        *_, last = [progress async for progress in on.execution.follow(sent)]
        assert last.state is State.UNKNOWN and "(side sell, tradeSide close) that reverses no LONG" in last.sentence
        assert "that reverses no LONG" in on.journal.intent(sent.intent).end
        await on.execution.release(sent.intent, "seen on the exchange's site")
        assert not on.execution.intents.unsettled()
        another = Execution(on.client, on.execution.settings, on.client.clock, on.execution.intents)
        for execution in (on.execution, another):
            preview = await execution.preview(LONG)
            assert preview.plan is None
            (reason,) = execution.blocking_reasons(preview, preview.subject)
            assert "an earlier reversal showed this: its order has a fill (side sell, tradeSide close)" in reason
        assert on.posts == 1


async def test_a_contradiction_of_fills_is_taken_back_by_releasing_its_reversal_once_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wording = {"mended": False}

    def by_direction(_: Any, envelope: dict[str, Any]) -> None:
        for row in envelope["data"]["fillList"] or ():
            if row["tradeSide"] == "close" and not wording["mended"]:
                row["side"] = "sell" if row["side"] == "buy" else "buy"

    answers_with(monkeypatch, FILLS, by_direction)
    async with scene(core_only=True) as on, session(on, tmp_path / "journal.sqlite") as execution:
        on.hold(long="20")
        preview = await execution.preview(Target(SYMBOL, USDT, Side.BUY, Decimal(3)))
        sent = await execution.confirm(preview, preview.subject)
        assert [progress.state async for progress in execution.follow(sent)][-1] is State.UNKNOWN
        await execution.release(sent.intent, "seen on the exchange's site")
        intent = await execution.intents.read(sent.intent)
        assert intent.is_releasable and execution.contradiction
        for number in range(201):
            await execution.intents.begin(f"later {number}", f"{USDT}|X{number}", "reversal", {})
            await execution.intents.step(f"later {number}", State.WITHDRAWN, {})
        wording["mended"] = True
        async with session(on, tmp_path / "journal.sqlite") as another:
            await asyncio.sleep(1)
            assert another.contradiction, "it is known from the start, however many intents came since"
            assert (await another.preview(LONG)).plan is None
            await another.release(sent.intent, "the exchange says that its fills are right again")
            assert (await another.preview(LONG)).plan is not None
        assert (await execution.preview(LONG)).plan is not None and not execution.contradiction
        intent = await execution.intents.read(sent.intent)
        assert not intent.is_releasable and intent.state is State.RELEASED
        assert on.posts == 1


async def test_every_session_learns_what_another_has_shown_of_fills(tmp_path: Path) -> None:
    file, shown = tmp_path / "journal.sqlite", {"contradiction": "a fill reverses no LONG"}
    async with scene(core_only=True) as on, session(on, file) as shows, session(on, file) as learns:
        monitor = JournalReader(JournalLocation(file))
        assert not monitor.contradiction()
        await shows.intents.begin("first", f"{USDT}|{SYMBOL}", "reversal", {})
        await shows.intents.step("first", State.WITHDRAWN, shown)
        await asyncio.sleep(2)
        assert (learns.contradiction, monitor.contradiction()) == (shown["contradiction"],) * 2
        await shows.intents.begin("second", f"{USDT}|{SYMBOL}", "reversal", {})
        await shows.intents.step("second", State.WITHDRAWN, {})
        assert monitor.contradiction() == shown["contradiction"]


async def test_a_contradiction_that_shows_after_an_inferred_end_locks_again_and_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wording = {"right": True}

    def by_direction(_: Any, envelope: dict[str, Any]) -> None:
        for row in envelope["data"]["fillList"] or ():
            if row["tradeSide"] == "close" and not wording["right"]:
                row["side"] = "sell" if row["side"] == "buy" else "buy"

    answers_with(monkeypatch, FILLS, by_direction)
    async with scene(core_only=True) as on:
        on.hold(long="20")
        on.sandbox.faults.plan("closed-only")
        sent = await on.confirm(LONG)
        await asyncio.sleep(80)
        assert on.journal.intent(sent.intent).details["outcome"] == Outcome.CLOSED_ONLY
        wording["right"] = False
        await asyncio.sleep(40)
        intent = on.journal.intent(sent.intent)
        assert intent.state is State.CORRECTED and "that reverses no LONG" in intent.contradiction
        assert on.execution.intents.unsettled()
        await asyncio.sleep(40)
        await on.execution.release(sent.intent, "seen on the exchange's site")
        assert not on.execution.intents.unsettled() and on.execution.contradiction


@pytest.mark.parametrize("mode", ["hedge", "one-way"])
async def test_the_account_tells_the_position_mode_where_no_row_does(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    def without_mode(_: Any, envelope: dict[str, Any]) -> None:
        data = envelope["data"]
        for row in (data if isinstance(data, list) else next(iter((data or {}).values()), None)) or ():
            row.pop("posMode", None)

    for path in (FILLS, "/all-position", "/orders-pending"):
        answers_with(monkeypatch, path, without_mode)
    async with scene(mode) as on:
        on.hold(long="20")
        on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES").fills.clear()  # a word of one-way fills says it as well
        preview = await on.execution.preview(Target(SYMBOL, USDT))
        assert (preview.mode_from, str(preview.mode)) == ("the account", f"{mode.replace('-', '_')}_mode")
        sent = await on.execution.confirm(preview, preview.subject)
        assert [progress.outcome async for progress in on.execution.follow(sent)][-1] is Outcome.REVERSED
    async with scene(mode, core_only=True) as on:
        on.hold(long="20")
        on.sandbox.exchange_state.book(on.uid, "USDT-FUTURES").fills.clear()
        assert (await on.execution.preview(Target(SYMBOL, USDT))).mode is None, "core-only there is no such account"


async def test_what_is_reported_is_reversed_whatever_the_side_of_fills_meant_once() -> None:
    async with scene() as on:
        on.hold(long="20")
        on.execution._market_state.contradiction = "its order has a fill that reverses no LONG"
        assert not (await on.execution._market_state.held(USDT, SYMBOL)).doubts
    async with scene("one-way", core_only=True) as on:
        on.hold(long="20")
        on.execution._market_state.contradiction = "its order has a fill that reverses no LONG"
        assert not (await on.execution._market_state.held(USDT, SYMBOL)).doubts


@BOTH_EXTENTS
async def test_the_closing_and_the_opening_fill_of_one_trade_id_are_two_fills(
    monkeypatch: pytest.MonkeyPatch, core_only: bool
) -> None:
    def one_id(_: Any, envelope: dict[str, Any]) -> None:
        fills = envelope["data"]["fillList"] or ()
        closing = [row for row in fills if row["tradeSide"] == "close"]
        opening = [row for row in fills if row["tradeSide"] == "open" and row["side"] == "sell"]
        for opened, closed in zip(opening, closing, strict=True):
            opened["tradeId"] = closed["tradeId"]

    async with scene(core_only=core_only) as on:
        on.hold(long="20")
        answers_with(monkeypatch, FILLS, one_id)
        progress = await on.reverse(LONG)
        assert progress[-1].outcome is Outcome.REVERSED
        ids = [fill.trade_id for fill in (await on.client.futures.fills(product_type=USDT, symbol=SYMBOL)).rows]
        assert len(ids) == len(set(ids)) and sum(" sell open" in trade_id for trade_id in ids) == 1


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("symbolStatus", "maintain", "contract status normal → maintain"),
        ("sizeMultiplier", "3", "contract size step 0.0001 → 3"),
        ("minTradeNum", "21", "contract minimum size 0.0001 → 21"),
        ("minTradeUSDT", "6", "contract minimum value 5 → 6"),
    ],
)
async def test_a_contract_that_changed_while_one_looked_is_said_and_nothing_is_sent(
    field: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(_: Any, envelope: dict[str, Any]) -> None:
        for contract in envelope["data"]:
            contract[field] = value

    async with scene() as on:
        on.hold(long="20")
        preview = await on.execution.preview(LONG)
        answers_with(monkeypatch, "/market/contracts", change)
        with pytest.raises(NotConfirmed) as refused:
            await on.execution.confirm(preview, preview.subject)
        assert refused.value.reasons[0].startswith(f"Changed since you looked: {sentence}")
        assert on.posts == 0


async def test_a_contract_that_cannot_be_read_again_delays_no_reversal(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    async with scene() as on:
        on.hold(long="20")
        preview = await on.execution.preview(LONG)
        monkeypatch.setattr(on.client.futures, "contracts", never)
        sent = await on.execution.confirm(preview, preview.subject)
        assert on.posts == 1
        assert sent.acknowledged


async def test_a_key_of_another_account_than_the_profile_names_sends_nothing_from_the_start(tmp_path: Path) -> None:
    async with scene() as on:
        on.hold(long="20")
        on.execution.settings = replace(on.execution.settings, uid="77")
        execution = another_session(on, InlineDisk())
        await execution.open_journal(on.uid, JournalLocation(tmp_path / "journal.sqlite"), on.uid)
        try:
            preview = await execution.preview(LONG)
            sentence = f"this API key belongs to UID {on.uid}, and this session was started for 77: nothing is sent"
            with pytest.raises(NotConfirmed, match=sentence):
                await execution.confirm(preview, preview.subject)
            for locked_by_hand in (True, False):
                await execution.intents.set_lock(locked_by_hand)
                assert execution.intents.locked
                (reason,) = execution.blocking_reasons(preview)
                assert sentence in reason, "and not that it can be unlocked, or what to type"
            assert on.posts == 0
        finally:
            await execution.stop()


async def test_a_key_that_has_become_another_accounts_locks_the_session_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def another(_: Any, envelope: dict[str, Any]) -> None:
        envelope["data"]["userId"] = "77"

    async with scene() as on:
        on.hold(long="20")
        preview = await on.execution.preview(LONG)
        answers_with(monkeypatch, "/spot/account/info", another)
        sentence = f"The exchange says that this API key belongs to UID 77, and this session was started for {on.uid}"
        for _ in range(2):
            with pytest.raises(NotConfirmed, match=sentence):
                await on.execution.confirm(preview, preview.subject)
            preview = await on.execution.preview(LONG)
        assert on.execution.intents.locked
        await on.execution.intents.set_lock(False)
        assert on.execution.intents.locked
        assert on.execution.blocking_reasons(preview, preview.subject)[0].startswith(sentence)
        assert on.posts == 0
