"""Lookups on the embedded exchange: every row once, whatever happens between and during the pages."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.virtual_loop import VirtualLoop
from tests.desk.fixtures.lookup_session import ACCOUNTS, BOOKS, LookupStage, keys_of, read_on
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.lookup.lookup import Lookup, LookupState
from tradetui.desk.tables.table import LOOKUPS
from tradetui.exchange.capabilities import PROBE_AGAIN_S
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.sandbox.gateway.api_keys import ALL
from tradetui.trading.spot_totals import added
from tradetui.wire.models.api_key import AccountInfo

pytestmark = pytest.mark.looptime
IDS = {"spot-fills": "tradeId", "spot-bills": "billId", "convert": "id", "transfers": "txId"}
TIMES = {"spot-fills": "cTime", "spot-bills": "cTime", "convert": "ts", "transfers": "ts"}
WEATHER = ("5xx", "429", "dropped-before", "dropped-after", "truncated", "non-json", "delay")


def ids_of(lookup: Lookup, table: str) -> list[str]:
    return [str(lookup.rows.row(index).received[IDS[table]]) for index in range(lookup.rows.count)]


def within(stage: LookupStage, table: str, lookup: Lookup) -> list[str]:
    """The ids of the exchange's rows in the lookup's stretch."""
    start, end = lookup.query.stretch.start_ms or 0, lookup.query.stretch.end_ms
    return [row[IDS[table]] for row in stage.book(table) if end is None or start <= int(row[TIMES[table]]) <= end]


@pytest.mark.parametrize("manner", [{}, {"dialect": "live"}, {"core_only": True}], ids=["document", "live", "core"])
@pytest.mark.parametrize("table", BOOKS)
async def test_everything_is_read_once_in_the_exchanges_order(table: str, manner: dict[str, Any]) -> None:
    stage = LookupStage(ACCOUNTS[table], **manner)
    lookup = stage.begin(table)
    await read_on(lookup, everything=True)
    assert lookup.state is LookupState.COMPLETE
    assert ids_of(lookup, table) == within(stage, table, lookup) != []
    assert lookup.totals == added({}, [lookup.rows.row(index) for index in range(lookup.rows.count)])
    assert lookup.part == 1.0


@pytest.mark.parametrize("dialect", ["documented", "live"])
@pytest.mark.parametrize(
    ("table", "field", "word"),
    [
        ("transfers", "type", "withdrawl"),
        ("transfers", "type", "withdrawal"),
        ("transfers", "type", "deposit"),
        ("spot-bills", "businessType", "rebate rewards"),
        ("spot-bills", "businessType", "REBATE_REWARDS"),
        ("spot-bills", "groupType", "fait"),
    ],
)
async def test_a_word_of_either_dialect_finds_its_rows(dialect: str, table: str, field: str, word: str) -> None:
    stage = LookupStage(ACCOUNTS[table], dialect=dialect)
    texts = {"startTime": "90d", "endTime": "0d"} if table == "transfers" else {}
    lookup = stage.begin(table, limit=None, **{**texts, field: word})
    await read_on(lookup, everything=True)
    documented = {"REBATE_REWARDS": "rebate rewards", "withdrawal": "withdrawl"}.get(word, word)
    assert ids_of(lookup, table) == [row[IDS[table]] for row in stage.book(table) if row[field] == documented] != []


async def test_too_many_calls_is_a_state_like_any_other() -> None:
    stage = LookupStage()
    stage.sandbox.faults.plan("429", endpoint="spot.fills", times=2)
    lookup = stage.begin("spot-fills")
    await read_on(lookup)
    assert lookup.state is LookupState.FAILED
    assert lookup.error is not None
    assert "Too many calls for now" in lookup.error.sentence
    await read_on(lookup, everything=True)
    assert ids_of(lookup, "spot-fills") == within(stage, "spot-fills", lookup)


async def test_a_page_is_read_when_somebody_comes_near_the_end_and_not_before() -> None:
    stage = LookupStage()
    lookup = stage.begin("spot-fills")
    assert lookup.rows.count == 0
    for pages in (1, 2):
        lookup.more()
        lookup.more()
        await read_on_what_began(lookup)
        assert (lookup.pages, lookup.rows.count, lookup.state) == (pages, 100 * pages, LookupState.MORE)
    assert lookup.part is not None
    assert 0 < lookup.part < 1


async def read_on_what_began(lookup: Lookup) -> None:
    assert lookup._task is not None
    await asyncio.wait([lookup._task])


async def test_what_was_stopped_goes_on_with_the_page_it_did_not_get() -> None:
    stage = LookupStage()
    lookup = stage.begin("spot-fills")
    await read_on(lookup)
    stage.sandbox.faults.plan("delay", endpoint="spot.fills")
    lookup.go_on(everything=True)
    await asyncio.sleep(0.5)
    assert lookup.loading
    lookup.stop()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (lookup.state, lookup.rows.count) == (LookupState.STOPPED, 100)
    lookup.more()
    assert (lookup.state, lookup.rows.count) == (LookupState.STOPPED, 100)
    await read_on(lookup, everything=True)
    assert lookup.state is LookupState.COMPLETE
    assert ids_of(lookup, "spot-fills") == within(stage, "spot-fills", lookup)


async def test_what_was_stopped_before_its_first_step_is_stopped() -> None:
    lookup = LookupStage().begin("spot-fills")
    lookup.go_on()
    lookup.stop()
    await asyncio.sleep(0.1)
    assert lookup.state is LookupState.STOPPED


async def test_a_failure_is_a_state_beside_the_rows_and_can_be_gone_on_with() -> None:
    stage = LookupStage()
    lookup = stage.begin("spot-bills", limit=50)
    await read_on(lookup)
    stage.sandbox.faults.plan("5xx", endpoint="spot.bills", times=2)
    await read_on(lookup, everything=True)
    assert (lookup.state, lookup.rows.count) == (LookupState.FAILED, 50)
    assert lookup.error is not None
    assert "The exchange is busy or under maintenance" in lookup.error.sentence
    await read_on(lookup, everything=True)
    assert lookup.error is None
    assert ids_of(lookup, "spot-bills") == within(stage, "spot-bills", lookup)


async def test_what_may_pass_is_tried_once_more_without_a_word() -> None:
    stage = LookupStage()
    lookup = stage.begin("spot-bills")
    stage.sandbox.faults.plan("5xx", endpoint="spot.bills")
    await read_on(lookup)
    assert (lookup.state, lookup.error) != (LookupState.FAILED, None)
    assert lookup.rows.count


@pytest.mark.parametrize("table", ["transfers", "email"])
async def test_a_refusal_is_a_sentence_and_is_remembered_for_ten_minutes(table: str) -> None:
    stage = LookupStage("hedge")
    assert stage.lookups.blocking_reason(table) is None
    lookup = stage.begin(table, limit=None, **({"subUid": "4200000001"} if table == "email" else {}))
    await read_on(lookup)
    assert lookup.state is LookupState.FAILED
    assert lookup.error is not None
    assert (lookup.error.code, lookup.rows.count) == ("40029", 0)
    assert "You are not a Broker (40029)" in lookup.error.sentence
    assert lookup.error.remedy == "Only a broker's main account may call this: use such an account's key."
    assert stage.lookups.blocking_reason(table) == lookup.error.sentence
    await asyncio.sleep(PROBE_AGAIN_S + 1)
    assert stage.lookups.blocking_reason(table) is None


async def test_a_permission_given_meanwhile_ends_the_refusal() -> None:
    stage = LookupStage("hedge", permissions=frozenset())
    lookup = stage.begin("spot-bills")
    await read_on(lookup)
    assert stage.lookups.blocking_reason("spot-bills") is not None
    keys = stage.sandbox.exchange_state.keys
    keys[:] = [replace(key, permissions=ALL) for key in keys]
    await read_on(lookup)
    assert lookup.rows.count
    assert stage.lookups.blocking_reason("spot-bills") is None


@pytest.mark.parametrize("table", ["spot-fills", "spot-bills", "convert"])
async def test_a_missing_permission_is_told_by_its_name(table: str) -> None:
    stage = LookupStage("hedge", permissions=frozenset({"futures-read"}))
    lookup = stage.begin(table)
    await read_on(lookup)
    assert lookup.error is not None
    assert lookup.error.code == "40014"
    assert "need spot order read or spot order write permissions" in lookup.error.sentence


async def test_what_the_keys_authorities_rule_out_is_known_without_asking() -> None:
    stage = LookupStage("hedge", permissions=frozenset({"futures-read"}))
    assert stage.lookups.blocking_reason("spot-fills") is None
    await stage.identify()
    assert "may not read spot orders" in (stage.lookups.blocking_reason("spot-fills") or "")
    allowed = LookupStage("hedge", permissions=ALL)
    await allowed.identify()
    assert allowed.lookups.blocking_reason("spot-fills") is None


@pytest.mark.parametrize(
    ("authorities", "lacks"),
    [
        (["coor", "cpow"], True),
        (["COOR", "cpow"], True),
        (["coor", "stor"], False),
        (["coor", "STOW"], False),
        (["trade", "readonly"], False),
        (["coor", "readonly"], False),
        ("coor,readonly", False),
        ({"coor": True, "spot": True}, False),
        ([], False),
        (None, False),
        (7, False),
    ],
)
async def test_authorities_that_nobody_knows_forbid_nothing(authorities: object, lacks: bool) -> None:
    stage = LookupStage("hedge")
    info = AccountInfo.from_row({"userId": "1", "authorities": authorities})
    stage.account = AccountIdentity("http://x", "live", "1", "exchange", info)
    assert (stage.lookups.blocking_reason("spot-fills") is not None) is lacks


@pytest.mark.parametrize(
    ("kind", "offered"), [("broker", True), (None, True), ("ordinary", False), ("copy_trader", False)]
)
def test_a_brokers_lookups_follow_the_accounts_kind(kind: str | None, offered: bool) -> None:
    stage = LookupStage("hedge", account_kind=kind)
    assert [stage.lookups.blocking_reason(table) is None for table in ("transfers", "email")] == [offered, offered]
    assert stage.lookups.blocking_reason("spot-bills") is None


async def test_a_managed_sub_account_reads_nothing_from_before_its_binding() -> None:
    stage = LookupStage("managed")
    lookup = stage.begin("spot-fills", startTime="60d")
    await read_on(lookup)
    assert lookup.error is not None
    assert lookup.error.code == "40408"


@pytest.mark.parametrize("days", [3, 8, 30, 90])
async def test_a_long_range_of_transfers_is_read_in_pieces_with_progress(days: int) -> None:
    requests: list[Any] = []

    class Counted:
        def __init__(self, sandbox: Any) -> None:
            self.sandbox = sandbox

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            requests.append(scope["query_string"])
            await self.sandbox(scope, receive, send)

    stage = LookupStage("broker", carry=Counted)
    lookup = stage.begin("transfers", startTime=f"{days}d", endTime="0d")
    parts: list[float] = []
    lookup.subscribe(lambda: parts.append(lookup.part or 0.0))
    await read_on(lookup, everything=True)
    assert ids_of(lookup, "transfers") == within(stage, "transfers", lookup)
    assert len(requests) >= lookup.query.pieces
    assert all(before <= after for before, after in pairwise(parts))
    assert (parts[0], parts[-1]) == (0.0, 1.0)
    assert len({part for part in parts if part < 1}) >= lookup.query.pieces


async def test_the_default_range_of_transfers_is_the_exchanges() -> None:
    stage = LookupStage("broker")
    lookup = stage.begin("transfers")
    await read_on(lookup, everything=True)
    stretch = lookup.query.stretch
    assert stretch.assumed
    explicit_times = stage.begin("transfers", startTime=str(stretch.start_ms), endTime=str(stretch.end_ms))
    await read_on(explicit_times, everything=True)
    assert keys_of(lookup) == keys_of(explicit_times) != []


async def test_the_email_of_a_sub_account() -> None:
    stage = LookupStage("broker")
    lookup = stage.begin("email", subUid="4200000002")
    await read_on(lookup)
    assert lookup.state is LookupState.COMPLETE
    assert lookup.rows.row(0).received["subaccountEmail"] == "desk2@broker.example"
    unknown = stage.begin("email", subUid="1")
    await read_on(unknown)
    assert unknown.error is not None
    assert "subUid does not belong to this broker (40066)" in unknown.error.sentence


async def test_a_lookup_goes_before_polls() -> None:
    stage = LookupStage()
    priorities: list[Priority] = []
    inner = stage.budget.acquire

    async def acquire(what: Any, priority: Priority, *, hold_s: float = 30.0) -> Any:
        priorities.append(priority)
        return await inner(what, priority, hold_s=hold_s)

    stage.budget.acquire = acquire  # type: ignore[assignment, method-assign]
    await read_on(stage.begin("spot-fills"))
    assert priorities == [Priority.INTERACTIVE]


async def test_a_lookup_stays_within_the_limit_and_is_never_refused() -> None:
    stage = LookupStage("hedge", limits=True)
    began = asyncio.get_running_loop().time()
    lookup = stage.begin("spot-fills", limit=5)
    await read_on(lookup, everything=True)
    assert lookup.state is LookupState.COMPLETE
    assert lookup.error is None
    calls = lookup.pages + 1
    assert asyncio.get_running_loop().time() - began >= calls // 10 - 1
    assert not any(use.halved for use in stage.budget.usage().values())


async def test_a_new_lookup_ends_the_one_before_it() -> None:
    stage = LookupStage()
    first = stage.begin("spot-fills")
    stage.sandbox.faults.plan("delay", endpoint="spot.fills")
    first.go_on(everything=True)
    await asyncio.sleep(0.1)
    second = stage.begin("spot-fills", symbol="BTCUSDT")
    await asyncio.sleep(0.1)
    assert first.state is LookupState.STOPPED
    assert stage.lookups.begun("spot-fills") is second
    await read_on(second)
    assert {second.rows.row(index).received["symbol"] for index in range(second.rows.count)} == {"BTCUSDT"}
    await stage.lookups.stop()


async def test_a_lookup_holds_so_many_rows_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradetui.desk.lookup.lookup.MOST_ROWS", 150)
    stage = LookupStage()
    lookup = stage.begin("spot-fills", limit=40)
    await read_on(lookup, everything=True)
    assert (lookup.state, lookup.rows.count) == (LookupState.FULL, 160)
    lookup.more()
    lookup.go_on(everything=True)
    assert lookup.state is LookupState.FULL


async def test_rows_that_cannot_be_read_are_counted() -> None:
    stage = LookupStage()
    stage.book("spot-fills")[3].pop("priceAvg")
    lookup = stage.begin("spot-fills")
    await read_on(lookup, everything=True)
    assert (lookup.undecodable_rows, lookup.rows.count) == (1, len(stage.book("spot-fills")) - 1)


@given(
    table=st.sampled_from(sorted(BOOKS)),
    limit=st.integers(1, 40),
    count=st.integers(0, 90),
    arriving=st.lists(st.integers(0, 3), max_size=40),
    stops=st.sets(st.integers(0, 12)),
    failing=st.dictionaries(st.integers(0, 12), st.sampled_from(WEATHER)),
)
@settings(max_examples=60, deadline=None)
def test_a_lookup_over_a_changing_book_brings_every_record_once(
    table: str, limit: int, count: int, arriving: list[int], stops: set[int], failing: dict[int, str]
) -> None:
    """Rows come in, reads fail and people press Esc between and during the pages."""

    async def run() -> None:
        stage = LookupStage(ACCOUNTS[table])
        book = stage.book(table)
        del book[count:]
        texts = {"startTime": "90d", "endTime": "0d"} if table == "transfers" else {}
        lookup = stage.begin(table, limit=limit, **texts)
        expected = within(stage, table, lookup)
        arrivals = list(arriving)
        for turn in range(10_000):
            if turn in failing:
                stage.sandbox.faults.plan(failing[turn], endpoint=LOOKUPS[table].endpoint_name, times=2)
            if turn in stops:
                stage.sandbox.faults.plan("delay", endpoint=LOOKUPS[table].endpoint_name)
                lookup.go_on()
                await asyncio.sleep(0.3)
                lookup.stop()
                await asyncio.sleep(2)
            lookup.go_on()
            await read_on_what_began(lookup)
            if lookup.state is LookupState.COMPLETE:
                break
            for _ in range(arrivals.pop(0) if arrivals else 0):
                newest = book[0][IDS[table]] if book else "1000000000000000000"
                row = dict(book[0]) if book else None
                if row is not None:
                    row |= {IDS[table]: str(int(newest) + 1), TIMES[table]: str(stage.clock.wall_ms())}
                    book.insert(0, row)
        ids = ids_of(lookup, table)
        assert len(set(ids)) == len(ids)
        assert [id_ for id_ in ids if id_ in set(expected)] == expected

    loop = VirtualLoop()
    try:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(run())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
