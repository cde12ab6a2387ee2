"""The events of an account in virtual time: whatever is killed and started again, each comes once, and none is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from tests.desk.fixtures.desk_simulation import Simulation
from tradetui.commands.process.flags import EVENT_KINDS
from tradetui.desk.archive.database import Archive
from tradetui.desk.event_stream import AccountEvents, NoLog
from tradetui.desk.events.delivery import AlertLog
from tradetui.desk.events.event_log import AccountEvent, EventId, EventKind, JournalSteps, event_sentence
from tradetui.desk.events.rules import AlertSettings
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.desk.trading_session import journal_location
from tradetui.exchange.clock import Moment
from tradetui.storage import sqlite_file
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime
USDT = ProductType.USDT_FUTURES
KINDS = (EventKind.FILL, EventKind.ORDER, EventKind.TRIGGER)
SILENT = AlertSettings(rules=())


def simulation_of(seed: int, data_dir: Path | None, **options: object) -> Simulation:
    values = {"jitter": False, "checked": False, "product_types": (USDT,), "alerts": SILENT, "fills": 60, **options}
    return Simulation(seed=seed, data_dir=data_dir, **values)  # type: ignore[arg-type]


class Watcher:
    """One reader of events and what it has read; it is killed in the middle of whatever it does."""

    def __init__(self, simulation: Simulation, kinds: tuple[EventKind, ...] = KINDS) -> None:
        self.events: list[AccountEvent] = []
        self.notices: list[str] = []
        self._simulation = simulation
        self._kinds = kinds

    @property
    def last(self) -> EventId | None:
        return self.events[-1].id if self.events else None

    async def read(self, seconds: float, *, most: int | None = None, since: EventId | int | None = None) -> None:
        """Read for so long, or so many events, and be killed: no desk is stopped, only its tasks end."""
        desk = self._simulation.open_desk()
        stream = AccountEvents(desk, self._kinds, since or self.last, self.notices.append).follow()
        read = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async for event in stream:
                    self.events.append(event)
                    read += 1
                    if read == most:
                        break
        await stream.aclose()
        await desk.scheduler.stop()
        await desk.storage.stop()

    def ids(self, kind: EventKind) -> list[str]:
        return [event.subject_id for event in self.events if event.kind is kind]


def fills_since(simulation: Simulation, since_ms: int) -> set[str]:
    return {
        f"{row['tradeId']}|{row['symbol']}" for row in simulation.held("fills", USDT) if int(row["cTime"]) >= since_ms
    }


def triggers_since(simulation: Simulation, since_ms: int) -> set[str]:
    return {row["orderId"] for row in simulation.held("triggers", USDT) if int(row["uTime"]) >= since_ms}


@pytest.mark.parametrize("seed", range(2))
async def test_kills_and_restarts_neither_lose_nor_repeat(tmp_path: Path, seed: int) -> None:
    random = Random(f"{seed}/kills")
    simulation = simulation_of(seed, tmp_path)
    watcher, other = Watcher(simulation), Watcher(simulation)
    await watcher.read(3.0)
    began_ms = simulation.clock.wall_ms()
    while not watcher.events:
        await watcher.read(5.0)
    for _ in range(random.randint(3, 6)):
        first = watcher.read(random.uniform(0.3, 12), most=random.choice((None, 1, 2, 7)))
        if random.random() < 0.4 and other.last is not None:
            await asyncio.gather(first, other.read(random.uniform(0.3, 12)))
        else:
            await first
            await other.read(random.uniform(0.3, 3), since=other.last or watcher.events[0].id)
        if random.random() < 0.7:
            await asyncio.sleep(random.choice((0.5, 20, 90)))
            simulation.exchange_state.advance(simulation.clock.wall_ms())
    simulation.exchange_state.stands_still = True
    await watcher.read(15)
    await other.read(15, since=other.last or watcher.events[0].id)
    for reader in (watcher, other):
        for kind in (EventKind.FILL, EventKind.TRIGGER):
            repeated = [key for key, count in Counter(reader.ids(kind)).items() if count > 1]
            assert not repeated, f"{kind} twice (seed {seed})"
        numbers = [event.id.number for event in reader.events]
        assert numbers == sorted(set(numbers)), f"not in order (seed {seed})"
    expected = fills_since(simulation, began_ms)
    assert len(expected) > 5
    assert expected <= set(watcher.ids(EventKind.FILL)), f"fills lost (seed {seed})"
    assert triggers_since(simulation, began_ms) <= set(watcher.ids(EventKind.TRIGGER)), f"triggers lost (seed {seed})"
    both_ms = watcher.events[0].id.number
    assert set(other.ids(EventKind.FILL)) == {
        event.subject_id for event in watcher.events if event.kind is EventKind.FILL and event.id.number > both_ms
    }
    check_orders(simulation, watcher, seed)


def check_orders(simulation: Simulation, watcher: Watcher, seed: int) -> None:
    """What began and did not end is what waits at the exchange; nothing begins or ends twice."""
    changes = [event for event in watcher.events if event.kind is EventKind.ORDER]
    new = [event.subject_id for event in changes if event.details["state"] == "new"]
    ended = [event.subject_id for event in changes if event.details["state"] in ("filled", "gone")]
    assert len(new) == len(set(new)) and len(ended) == len(set(ended)), f"seed {seed}"
    waiting = {row["orderId"] for row in simulation.held("orders", USDT)}
    assert set(new) - set(ended) <= waiting, f"seed {seed}"
    assert not set(ended) & waiting, f"seed {seed}"


async def test_an_order_that_filled_while_nobody_looked_is_marked(tmp_path: Path) -> None:
    simulation = simulation_of(3, tmp_path)
    watcher = Watcher(simulation)
    while not any(event.kind is EventKind.ORDER and event.details["state"] == "new" for event in watcher.events):
        await watcher.read(5)
    await asyncio.sleep(240)
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    simulation.exchange_state.stands_still = True
    read = len(watcher.events)
    await watcher.read(20)
    changes = [event for event in watcher.events[read:] if event.kind is EventKind.ORDER]
    ends = [event for event in changes if event.details["state"] in ("filled", "gone", "changed")]
    assert ends and all(event.details["missed"] for event in ends)
    for event in ends:
        if event.details["state"] == "filled":
            assert Decimal(event.details["filled"]) >= Decimal(event.details["order"]["size"])
            assert event_sentence(event).startswith("Order filled: ")
    assert all("were not seen" in event_sentence(event) for event in ends)


async def test_from_now_on_means_nothing_from_before(tmp_path: Path) -> None:
    simulation = simulation_of(4, tmp_path)
    await Watcher(simulation).read(5)
    await asyncio.sleep(120)
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    simulation.exchange_state.stands_still = True
    now = Watcher(simulation)
    await now.read(20)
    assert now.events == []


async def test_from_a_time_on_and_from_an_event_of_an_archive_that_is_gone(tmp_path: Path) -> None:
    simulation = simulation_of(5, tmp_path / "first")
    await asyncio.sleep(30)
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    simulation.exchange_state.stands_still = True
    since_ms = simulation.clock.wall_ms() - 3_600_000
    watcher = Watcher(simulation)
    await watcher.read(60, since=since_ms)
    assert set(watcher.ids(EventKind.FILL)) == fills_since(simulation, since_ms)
    assert set(watcher.ids(EventKind.TRIGGER)) == triggers_since(simulation, since_ms)
    simulation.data_dir = tmp_path / "second"
    elsewhere, point = Watcher(simulation), watcher.events[len(watcher.events) // 2].id
    await elsewhere.read(60, since=point)
    assert any("does not know that event" in notice for notice in elsewhere.notices)
    assert set(elsewhere.ids(EventKind.FILL)) == fills_since(simulation, point.time_ms - 60_000)


async def test_outcomes_come_from_the_journal_which_is_never_written(tmp_path: Path) -> None:
    simulation = simulation_of(6, tmp_path)
    simulation.exchange_state.stands_still = True
    watcher = Watcher(simulation, (EventKind.OUTCOME,))
    await watcher.read(10)
    file = await journal_file(simulation)
    assert not file.exists(), "watching makes no journal"
    journal = Journal(file)
    journal.begin(
        "a1", "account", "BTCUSDT", "reversal", {"title": "reverse LONG BTCUSDT"}, Moment.now(simulation.clock)
    )
    journal.step("a1", State.SENT, {}, Moment.now(simulation.clock))
    journal.step("a1", State.REJECTED, {"message": "no margin"}, Moment.now(simulation.clock))
    journal.close()
    before = file.read_bytes()
    await watcher.read(5, since=EventId(0, await log_name(simulation), 0))
    await watcher.read(5)
    assert [event_sentence(event) for event in watcher.events] == ["reverse LONG BTCUSDT: rejected, no margin"]
    assert file.read_bytes() == before


async def journal_file(simulation: Simulation) -> Path:
    desk = simulation.open_desk()
    desk.start()
    await asyncio.sleep(5)
    assert desk.account is not None
    file = journal_location(desk.settings, desk.account).file
    await desk.stop()
    assert file is not None
    return file


async def log_name(simulation: Simulation) -> str:
    desk = simulation.open_desk()
    desk.start()
    await asyncio.sleep(5)
    assert desk.archive is not None
    name: str = desk.archive.connection.execute("SELECT name FROM event_log").fetchone()[0]
    await desk.stop()
    return name


def test_a_journal_that_cannot_be_read_gives_nothing_and_is_read_again(tmp_path: Path) -> None:
    from tradetui.desk.intents.journal.registered_journal import JournalLocation

    file = tmp_path / "journal.sqlite"
    steps = JournalSteps(JournalLocation(file))
    assert steps.outcomes_after(lambda _: 0) == steps.outcomes_after(lambda _: 0, all_files=True) == []
    file.write_bytes(b"no database")
    assert steps.outcomes_after(lambda _: 0) == steps.outcomes_after(lambda _: 0, all_files=True) == []


def test_a_journal_that_somebody_holds_is_not_taken_for_one_without_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tradetui.desk.intents.journal.registered_journal import JournalLocation

    monkeypatch.setattr(sqlite_file, "BUSY_S", 0.0)
    file = tmp_path / "journal.sqlite"
    Journal(file).close()
    steps = JournalSteps(JournalLocation(file))
    with closing(sqlite3.connect(file, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="cannot be read: database is locked"):
            steps.outcomes_after(lambda _: 0, all_files=True)
        assert steps.outcomes_after(lambda _: 0) == [], "it is read once it can be"


async def test_events_wait_for_a_journal_that_somebody_holds_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_S", 0.0)
    simulation = simulation_of(9, tmp_path)
    watcher, file = Watcher(simulation), await journal_file(simulation)
    Journal(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        await watcher.read(20)
    problem = f"{file} cannot be read: database is locked"
    assert watcher.notices == [f"Events wait: the archive cannot be written or a journal not be read ({problem})."]
    assert not watcher.events
    await watcher.read(20)
    assert watcher.events and len(watcher.notices) == 1


async def test_without_an_archive_nothing_can_be_resumed() -> None:
    simulation = simulation_of(7, None)
    with pytest.raises(NoLog):
        await Watcher(simulation).read(10)


async def test_alerts_of_every_session_come_once(tmp_path: Path) -> None:
    simulation = simulation_of(8, tmp_path, alerts=AlertSettings())
    watcher = Watcher(simulation, (EventKind.ALERT,))
    await watcher.read(20)
    (file,) = tmp_path.rglob("archive.sqlite")  # noqa: ASYNC240 - time is virtual here, and the disk is not
    archive = Archive(file)
    AlertLog(archive, "another session").end_shown("tt-1")  # which is no alert
    archive.close()
    await watcher.read(20)
    sentences = [event.details["sentence"] for event in watcher.events]
    assert len(sentences) > 3 and all(sentences)
    assert len({event.subject_id for event in watcher.events}) == len(watcher.events)


def test_an_event_id_is_told_from_a_time() -> None:
    assert EventId.parse("17-5f0c2a9b-1763800000000") == EventId(17, "5f0c2a9b", 1763800000000)
    assert str(EventId(17, "5f0c2a9b", 1763800000000)) == "17-5f0c2a9b-1763800000000"
    for text in ("2026-11-01", "1793491200000", "7d", "", "x-5f0c2a9b-1"):
        assert EventId.parse(text) is None


def test_the_command_line_knows_every_kind() -> None:
    assert tuple(EventKind) == EVENT_KINDS
