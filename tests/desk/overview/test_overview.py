"""Several accounts at once: what a row says, what is silent or broken, and that nothing there can send."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tests.desk.fixtures.desk_simulation import START_MS
from tests.desk.fixtures.several_accounts import PRODUCT_TYPES, SeveralAccounts, silence
from tests.sandbox.exchange_events import open_position
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.overview.account_row import NO_KEY, AccountRow, RowState, by_need, sums_by_environment
from tradetui.desk.overview.overview_table import OVERVIEW, sum_line
from tradetui.desk.overview.watched_account import Kept, OpenedAccount
from tradetui.desk.settings import Environment
from tradetui.desk.tables.cells.cell_format import percent_points
from tradetui.exchange.client import ExchangeReader, TradingClient
from tradetui.sandbox.books.orders import ONE_WAY
from tradetui.sandbox.gateway.api_keys import ALL, ANYWHERE, made_key
from tradetui.sandbox.seed_accounts import build_exchange_state, desk_accounts
from tradetui.trading.account_totals import totals_of

pytestmark = pytest.mark.looptime


async def test_a_row_says_what_the_exchange_says_of_the_account() -> None:
    several = SeveralAccounts()
    async with several.watched() as rows:
        assert list(rows) == ["coin", "hedge", "one-way"]
        for name, row in rows.items():
            client = several.source(name, f"{name} again").open().client
            accounts = [await client.futures.accounts(product_type=product_type) for product_type in PRODUCT_TYPES]
            positions = [await client.futures.positions(product_type=product_type) for product_type in PRODUCT_TYPES]
            totals = totals_of([account for reply in accounts for account in reply.rows])
            assert (row.state, row.is_late, row.access) == (RowState.READ, False, "trade")
            assert totals.equity is not None and row.equity is not None
            assert abs(row.equity / totals.equity - 1) < Decimal("0.01"), "the market went on for a moment"
            assert len(row.positions or ()) == sum(len(reply.rows) for reply in positions)
            assert row.uid in {key.uid for key in several.sandbox.exchange_state.keys if key.name == name}
            assert row.fills and row.fill_age_min is not None
            assert row.nearest_liquidation is not None


async def test_a_unified_account_is_a_row_by_interface_v3_and_what_that_does_not_tell_is_not_known() -> None:
    several = SeveralAccounts(["unified", "hedge"])
    async with several.watched() as rows:
        row = rows["unified"]
        client = several.source("unified", "again").open().client
        (whole, *_) = (await client.futures.accounts(product_type="USDT-FUTURES")).rows
        assert client.is_unified and row.equity is not None and whole.usdt_equity is not None
        assert abs(row.equity / whole.usdt_equity - 1) < Decimal("0.01"), (
            "the wallet counts once for three product types"
        )
        assert (row.state, row.access, row.unrealised_in_usdt) == (RowState.READ, "unified", None)
        held = [await client.futures.positions(product_type=product_type) for product_type in PRODUCT_TYPES]
        assert len(row.positions or ()) == sum(len(reply.rows) for reply in held) > 0
        assert row.orders and row.fills and row.margin_ratio is not None
        assert rows["hedge"].access == "trade"
    assert not [call for call in several.requests if call[0] != "GET"]


async def test_positions_and_accounts_are_read_every_five_seconds_and_orders_every_fifteen() -> None:
    several = SeveralAccounts(["hedge"])
    async with several.watched():
        several.requests.clear()
        await asyncio.sleep(120)
        paths = Counter(path.rpartition("/")[2] for _, path in several.requests)
    types = len(PRODUCT_TYPES)
    assert 24 * types <= paths["accounts"] <= 28 * types
    assert 24 * types <= paths["all-position"] <= 28 * types
    assert 8 * 2 * types <= paths["orders-pending"] <= 10 * 2 * types


async def test_fills_are_read_soon_after_a_position_has_changed() -> None:
    several = SeveralAccounts(["hedge", "one-way"])
    async with several.watched() as before:
        await asyncio.sleep(10)
        open_position(several.sandbox.exchange_state, before["hedge"].uid or "", "BTCUSDT", "long", Decimal(1))
        await asyncio.sleep(25)
        newest = several.rows["hedge"].last_fill
        assert before["hedge"].last_fill is not None and newest is not None
        assert newest > before["hedge"].last_fill


def refuse() -> OpenedAccount:
    raise ValueError("the key file cannot be read")


async def garbage(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"<html>hello</html>"})


async def test_a_broken_account_is_one_row_that_says_so_and_delays_no_other() -> None:
    several = SeveralAccounts(["hedge"])
    several.apps |= {"silent": silence, "garbled": garbage}
    sources = [several.source("one-way", "silent"), several.source("coin", "garbled"), several.source("hedge")]
    broken = replace(several.source("managed", "broken"), open=refuse)
    several.overview = several.overview_of([*sources, broken])
    async with several.watched():
        greatest_age = 0
        for _ in range(40):
            await asyncio.sleep(1)
            greatest_age = max(greatest_age, several.rows["hedge"].age_s or 0)
        rows = several.rows
    assert greatest_age <= 6
    assert {name: row.state for name, row in rows.items()} == {
        "silent": RowState.NO_LINK,
        "garbled": RowState.NO_LINK,
        "broken": RowState.NOT_OPENED,
        "hedge": RowState.READ,
    }
    assert rows["broken"].problem == "the key file cannot be read"
    assert all(rows[name].problem for name in ("silent", "garbled"))
    (total,) = sums_by_environment(list(rows.values()))
    assert (total.counted, total.accounts) == (1, 4)
    assert total.text == "1 of 4 accounts (garbled: not read yet, silent: not read yet, broken: not read yet)"


async def test_an_account_that_falls_silent_keeps_its_figures_and_is_named_with_their_age() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    async with several.watched():
        several.apps["coin"] = silence
        await asyncio.sleep(41)
        row = several.rows["coin"]
        assert row.state is RowState.NO_LINK and row.is_late and row.equity is not None
        (total,) = sums_by_environment(several.overview.rows)
        assert total.counted == 2 and f"(coin: {row.age_s} s old)" in sum_line(total)
        del several.apps["coin"]
        await asyncio.sleep(10)
        assert several.rows["coin"].state is RowState.READ


async def test_two_profiles_of_one_account_share_a_row() -> None:
    several = SeveralAccounts(["hedge"])
    several.overview = several.overview_of(
        [several.source("hedge"), several.source("hedge", "again"), several.source("coin")]
    )
    async with several.watched():
        await asyncio.sleep(10)
        assert sorted(row.names for row in several.overview.rows) == [("coin",), ("hedge", "again")]
        several.requests.clear()
        await asyncio.sleep(30)
        calls = Counter(path.rpartition("/")[2] for _, path in several.requests)
        assert calls["accounts"] <= 2 * 7 * len(PRODUCT_TYPES), "it is read once"


async def test_a_configuration_read_again_adds_and_removes_rows_and_leaves_the_others_alone() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    async with several.watched():
        several.overview.use_sources([several.source("hedge"), several.source("one-way")])
        assert several.rows["hedge"].equity is not None, "it went on undisturbed"
        assert set(several.rows) == {"hedge", "one-way"}
        await asyncio.sleep(5)
        assert several.rows["one-way"].state is RowState.READ
        several.overview.use_sources([several.source("hedge", configured="otherwise"), several.source("one-way")])
        assert several.rows["hedge"].equity is None, "it is opened as it is configured now"
        await asyncio.sleep(5)
        assert several.rows["hedge"].equity is not None


class KeptInMemory:
    """What a machine keeps of an account, as a test says."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept

    def read(self, account: AccountIdentity, now_ms: int) -> Kept:
        return self.kept


async def test_an_unknown_outcome_comes_first_and_a_lock_is_named() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    kept = several.kept["hedge"] = KeptInMemory(Kept(("BTCUSDT",), is_locked=True))
    async with several.watched() as rows:
        assert list(rows) == ["hedge", "coin"]
        assert rows["hedge"].state is RowState.UNKNOWN_OUTCOME
        assert (rows["hedge"].access, rows["coin"].access) == ("locked", "trade")
        assert rows["coin"].unknown_outcomes is None, "nobody looked"
        kept.kept = Kept()
        await asyncio.sleep(6)
        assert several.rows["hedge"].unknown_outcomes == () and several.rows["hedge"].access == "trade"


async def test_demo_and_live_are_never_in_one_sum() -> None:
    several = SeveralAccounts(["hedge"])
    live, demo = Environment.LIVE, Environment.DEMO
    several.overview = several.overview_of(
        [several.source("hedge", environment=live), several.source("coin", environment=demo)]
    )
    async with several.watched() as rows:
        totals = {total.environment: total for total in sums_by_environment(list(rows.values()))}
    assert totals["LIVE"].equity == rows["hedge"].equity
    assert totals["DEMO"].equity == rows["coin"].equity
    assert {total.accounts for total in totals.values()} == {1}


def row(name: str, **changed: Any) -> AccountRow:
    figures = {"equity": Decimal(100), "unrealised": Decimal(5), "unrealised_in_usdt": Decimal(5)}
    fields: dict[str, Any] = {"state": RowState.READ, "age_s": 1, "is_late": False, **figures, **changed}
    return AccountRow(names=(name,), environment="LIVE", **fields)


def test_a_sum_holds_only_what_the_exchange_states_in_usdt() -> None:
    converted = row("coin", unrealised=Decimal(50))
    (total,) = sums_by_environment([row("main"), converted, row("new", equity=None, age_s=None, is_late=True)])
    assert (total.equity, total.unrealised, total.counted) == (Decimal(200), Decimal(10), 2)
    assert sum_line(total) == (
        "LIVE 2 of 3 accounts (new: not read yet) · equity 200.00 USDT · unrealised +10.00 of USDT-margined"
        " · today — (no session ran when the day began) · oldest 1 s"
    )


def test_a_sum_names_accounts_without_figures_and_counts_those_of_today() -> None:
    days = [row("a", today=Decimal(2)), row("b"), row("read", equity=None)]
    (total,) = sums_by_environment(days)
    assert "2 of 3 accounts (read: figures not known)" in sum_line(total)
    assert "today +2.00 of 1 account ·" in sum_line(total)


async def test_a_sub_account_with_a_profile_of_its_own_has_that_row_alone() -> None:
    several = SeveralAccounts(["hedge"])
    with_subaccounts(several)
    several.sandbox.exchange_state.keys.append(
        made_key(7, "carry", "4400010051", ALL, ONE_WAY, "virtual", ips=ANYWHERE)
    )
    several.overview = several.overview_of([several.source("hedge"), several.source("carry")])
    async with several.watched():
        await asyncio.sleep(30)
        assert list(several.rows) == ["carry", "hedge", "hedge/0052"]
        assert several.rows["carry"].has_key and several.rows["carry"].positions is not None
        (total,) = sums_by_environment(several.overview.rows)
        equities = [row.equity for row in several.rows.values()]
        assert total.equity == sum(equity for equity in equities if equity is not None), "none is counted twice"


def test_who_needs_a_person_comes_first_and_then_the_name() -> None:
    rows = [row("b"), row("a"), row("m", state=RowState.MARGIN), row("l", state=RowState.NO_LINK)]
    unknown = row("z", state=RowState.UNKNOWN_OUTCOME)
    assert [entry.name for entry in by_need([*rows, unknown])] == ["z", "l", "m", "a", "b"]


def test_of_accounts_near_liquidation_the_nearest_comes_first_and_quiet_ones_keep_their_places() -> None:
    def with_ratio(name: str, ratio: str | None, state: RowState = RowState.MARGIN) -> AccountRow:
        return row(name, state=state, margin_ratio=None if ratio is None else Decimal(ratio))

    near = [with_ratio("a", "0.6"), with_ratio("b", None), with_ratio("c", "0.9")]
    quiet = [with_ratio("e", "0.3", RowState.READ), with_ratio("d", "0.1", RowState.READ)]
    assert [entry.name for entry in by_need([*quiet, *near])] == ["c", "a", "b", "d", "e"]


async def test_an_account_near_liquidation_says_why() -> None:
    several = SeveralAccounts(["isolated"])
    async with several.watched() as rows:
        account = rows["isolated"]
    nearest = account.nearest_liquidation
    assert account.state is RowState.MARGIN and nearest is not None and account.liquidation_distance is not None
    away = percent_points(account.liquidation_distance)
    assert account.problem == f"{nearest.symbol} is {away} % away from liquidation."


def test_what_80_columns_have_room_for_is_what_matters() -> None:
    ranked = sorted(OVERVIEW.columns, key=lambda column: column.rank)
    matters = {"state", "name", "equity", "unrealised", "marginRatio", "unknownOutcomes"}
    assert {column.id for column in ranked[:6]} == matters
    assert sum(column.width + 2 for column in ranked[:6]) <= 76


async def test_no_object_of_an_overview_can_send() -> None:
    several = SeveralAccounts()
    async with several.watched():
        await asyncio.sleep(60)
        clients = [client for client in gc.get_objects() if isinstance(client, ExchangeReader)]
        assert {id(client) for client in several.clients} <= set(map(id, clients))
        assert not any(isinstance(client, TradingClient) or hasattr(client, "write") for client in several.clients)
    assert {method for method, _ in several.requests} == {"GET"}


async def test_every_account_that_may_send_is_locked_and_a_failure_names_the_account() -> None:
    several = SeveralAccounts([])
    locked: list[str] = []

    def fail(_: AccountIdentity | None) -> None:
        raise OSError("the disk is full")

    def lock(account: AccountIdentity | None) -> None:
        assert account is not None
        locked.append(account.uid)

    several.overview = several.overview_of(
        [
            several.source("hedge", lock_trading=lock),
            several.source("hedge", "again", lock_trading=lock),
            several.source("coin", lock_trading=fail),
            several.source("one-way"),
        ]
    )
    async with several.watched() as rows:
        await asyncio.sleep(5)
        result = await several.overview.lock_trading()
        assert set(locked) == {rows["hedge"].uid}
        assert result.locked == ("hedge",) and result.failed == ("coin: the disk is full",)


async def test_the_accounts_together_stay_within_the_calls_of_their_address() -> None:
    names = ["hedge", "one-way", "coin", "managed", "isolated", "multi-assets", "at-limits", "broker"]
    several = SeveralAccounts(names)
    async with several.watched():
        await asyncio.sleep(120)
    assert not [call for call in several.sandbox.calls if call.code == "429"]
    assert len(several.requests) / 120 < len(names) * 2, "two calls a second for an account of three product types"


def with_subaccounts(several: SeveralAccounts) -> None:
    """The main account `hedge` has two sub-accounts, of which `reserve` holds nothing."""
    several.sandbox.exchange_state = build_exchange_state(7, START_MS, accounts=desk_accounts(3))


async def test_a_main_accounts_key_gives_its_sub_accounts_rows_until_every_figure_is_known() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    with_subaccounts(several)
    async with several.watched():
        await asyncio.sleep(3)
        early = several.rows["hedge/0051"]
        assert (early.equity, early.state, early.access) == (None, RowState.READ, NO_KEY), "one product type is read"
        (total,) = sums_by_environment(several.overview.rows)
        assert total.late == (("hedge/0051", "not read yet"), ("hedge/0052", "not read yet"))
        await asyncio.sleep(25)
        rows = several.rows
        assert list(rows) == ["coin", "hedge", "hedge/0051", "hedge/0052"]
        carry, state = rows["hedge/0051"], several.sandbox.exchange_state
        accounts = [row for product in PRODUCT_TYPES for row in state.futures_accounts("4400010051", product)]
        assert carry.equity is not None and not carry.is_late
        assert abs(carry.equity / sum(Decimal(row["usdtEquity"]) for row in accounts) - 1) < Decimal("0.01")
        assert carry.unrealised and (carry.positions, carry.orders, carry.unknown_outcomes) == (None, None, None)
        several.requests.clear()
        await asyncio.sleep(100)
        calls = Counter(path.rpartition("/")[2] for _, path in several.requests)
        assert 9 <= calls["sub-account-assets"] <= 20, "one in ten seconds from each main account"
    assert {call.code for call in several.sandbox.calls if call.path.endswith("sub-account-assets")} == {"00000"}


async def test_sub_accounts_that_never_had_futures_have_no_rows() -> None:
    several = SeveralAccounts(["at-limits"])
    async with several.watched():
        await asyncio.sleep(30)
        assert list(several.rows) == ["at-limits"]
        assert any(path.endswith("sub-account-assets") for _, path in several.requests)


async def test_the_setting_keeps_sub_accounts_without_profiles_out() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    with_subaccounts(several)
    several.settings["subaccount_rows"] = False
    async with several.watched():
        await asyncio.sleep(30)
        assert list(several.rows) == ["coin", "hedge"]
        assert not any(path.endswith("sub-account-assets") for _, path in several.requests)


async def slow(several: SeveralAccounts, scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(3)
    await several.sandbox(scope, receive, send)


async def test_faulty_accounts_leave_the_ages_of_the_others_as_they_are() -> None:
    async def p95_of_ages(faults: dict[str, Any]) -> tuple[dict[str, int], dict[str, AccountRow]]:
        several = SeveralAccounts(["hedge", "one-way"])
        several.apps |= faults | ({"slow": partial(slow, several)} if faults else {})
        sources = [several.source(account, name) for name, account in FAULTY.items() if faults]
        several.overview = several.overview_of([several.source("hedge"), several.source("one-way"), *sources])
        ages: dict[str, list[int]] = {"hedge": [], "one-way": []}
        async with several.watched():
            for _ in range(100):
                await asyncio.sleep(1)
                for name, seconds in ages.items():
                    seconds.append(several.rows[name].age_s or 0)
            rows = dict(several.rows)
        return {name: sorted(seconds)[95] for name, seconds in ages.items()}, rows

    alone, _ = await p95_of_ages({})
    beside, rows = await p95_of_ages({"silent": silence, "garbled": garbage, "wrong key": with_wrong_key})
    assert beside == alone
    assert all(rows[name].problem for name in ("silent", "garbled", "wrong key"))
    assert rows["wrong key"].state is RowState.REFUSED
    assert rows["slow"].equity is not None, "late, and yet read"


FAULTY = {"silent": "managed", "garbled": "coin", "wrong key": "isolated", "slow": "copy-new"}


async def with_wrong_key(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 400, "headers": []})
    body = b'{"code":"40012","msg":"apikey/password is incorrect","requestTime":1,"data":null}'
    await send({"type": "http.response.body", "body": body})
