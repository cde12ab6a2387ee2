"""Alerts of whole sessions on the embedded exchange: two of one account in monitor mode, on one archive."""

from __future__ import annotations

import asyncio
from datetime import timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from tests.desk.fixtures.desk_simulation import Simulation
from tests.sandbox.exchange_events import open_position
from tradetui.desk.desk import Desk
from tradetui.desk.events.rules import Alert, AlertSettings, Channel, Condition, RuleKind, rule_of
from tradetui.sandbox.books.orders import waits_above
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime
DESKTOP = tuple(
    rule_of(Condition(kind), (Channel.LINE, Channel.DESKTOP)) for kind in RuleKind if kind != "price_crosses"
)
USDT_ONLY = (ProductType.USDT_FUTURES,)


class Watched:
    """A desk, what it shows and what it sends to the desktop."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.shown: list[Alert] = []
        self.desktop: list[str] = []
        desk.alerts.subscribe(self.shown.append)
        desk.alerts.delivery.desktop = self.desktop.append


def kept_files(data_dir: Path) -> set[str]:
    return {file.name for file in data_dir.rglob("*")}


def still(seed: int, data_dir: Path) -> Simulation:
    simulation = Simulation(
        seed, data_dir=data_dir, jitter=False, product_types=USDT_ONLY, alerts=AlertSettings(rules=DESKTOP), fills=60
    )
    simulation.exchange_state.stands_still = True
    return simulation


async def test_each_session_shows_it_one_delivers_it_and_none_writes_a_journal(tmp_path: Path) -> None:
    simulation = still(5, tmp_path)
    first, second = Watched(simulation.desk), Watched(simulation.open_desk())
    # Begun so, the second sees the fill first: seen two seconds after the other it would be too late to deliver it.
    first.desk.start()
    await asyncio.sleep(19)
    second.desk.start()
    await asyncio.sleep(20)
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    open_position(simulation.exchange_state, simulation.uid, "BTCUSDT", "long", Decimal("0.01"))
    await asyncio.sleep(40)
    for session in (first, second):
        (alert,) = (alert for alert in session.shown if RuleKind.FILL in alert.event.kinds)
        assert alert.sentence.startswith("BTCUSDT LONG opened: bought 0.0100 at ")
    assert (len(first.desktop), len(second.desktop)) == (0, 1), "the one that was opened last comes first"
    log = await first.desk.alerts.delivery.newest()
    assert log == await second.desk.alerts.delivery.newest()
    assert log[0].delivery == "line; desktop: sent"
    await second.desk.stop()
    simulation.exchange_state.advance(simulation.clock.wall_ms())
    open_position(simulation.exchange_state, simulation.uid, "BTCUSDT", "long", Decimal("0.02"))
    await asyncio.sleep(40)
    assert len(first.desktop) == 1
    await first.desk.stop()
    names = kept_files(tmp_path)
    assert "archive.sqlite" in names and not any(name.startswith("journal") for name in names)


async def test_every_order_that_fills_is_told_once_and_in_one_piece() -> None:
    simulation = Simulation(7, jitter=False, alerts=AlertSettings(rules=DESKTOP), fills=60, checked=False)
    watched = Watched(simulation.desk)
    simulation.desk.start()
    await simulation.run(30)
    began_ms = simulation.clock.wall_ms()
    await simulation.run(60)
    ended_ms = simulation.clock.wall_ms()
    await simulation.run(10)
    keys = [alert.event.key for alert in watched.shown]
    assert len(set(keys)) == len(keys)
    orders: dict[str, str] = {}
    for product_type in simulation.product_types:
        for row in reversed(simulation.held("fills", product_type)):
            if began_ms <= int(row["cTime"]) <= ended_ms:
                orders.setdefault(row["orderId"], f"fill|{product_type}|{row['tradeId']}|{row['symbol']}")
    assert len(orders) > 10
    firsts = {key for key in keys if key.startswith("fill|")}
    assert set(orders.values()) <= firsts
    await simulation.desk.stop()


async def test_a_stop_that_was_hit_is_told_with_what_it_did(tmp_path: Path) -> None:
    simulation = still(5, tmp_path)
    watched, exchange_state = Watched(simulation.desk), simulation.exchange_state
    simulation.desk.start()
    await asyncio.sleep(30)
    book = exchange_state.book(simulation.uid, "USDT-FUTURES")
    stop = next(row for row in book.live_triggers.values() if row["planType"] in ("loss_plan", "profit_plan"))
    exchange_state.account(simulation.uid).lively = False
    beyond = Decimal("1.01") if waits_above(stop) else Decimal("0.99")
    exchange_state.market.set_price(stop["symbol"], Decimal(stop["triggerPrice"]) * beyond)
    exchange_state.stands_still = False
    exchange_state.advance(simulation.clock.wall_ms())
    exchange_state.stands_still = True
    await asyncio.sleep(30)
    kind = {"loss_plan": "Stop-loss", "profit_plan": "Take-profit"}[stop["planType"]]
    subject = f"{kind} on your {stop['symbol']} {stop['posSide'].upper()} hit: "
    hits = [alert for alert in watched.shown if alert.sentence.startswith(subject)]
    assert hits, [alert.sentence for alert in watched.shown]
    assert all(alert.event.kinds == {RuleKind.FILL, RuleKind.TRIGGER} for alert in hits), "told once, with its fills"
    assert ", fee -" in hits[0].sentence
    await simulation.desk.stop()


async def test_todays_result_is_looked_at_with_the_accounts(tmp_path: Path) -> None:
    rule = rule_of(Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(1_000_000)))
    alerts = AlertSettings(rules=(rule,))
    simulation = Simulation(9, data_dir=tmp_path, jitter=False, product_types=USDT_ONLY, alerts=alerts, fills=60)
    simulation.exchange_state.stands_still = True
    # The day begins twenty seconds after the session.
    simulation.desk.zone = timezone(timedelta(hours=9, minutes=46, seconds=20))
    watched = Watched(simulation.desk)
    simulation.desk.start()
    await asyncio.sleep(15)
    assert watched.shown == []
    await asyncio.sleep(180)
    today = simulation.desk.today()
    assert today is not None
    (alert,) = watched.shown
    assert alert.sentence.startswith("Today's result ") and alert.sentence.endswith(", below 1,000,000")
    await simulation.desk.stop()
