"""`show pnl` and `show trips` against a sandbox in another process: what they say is what its fills add up to."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Point, point_at
from tests.desk.archive.test_archive import damage_table
from tradetui.cli import main
from tradetui.commands.process import console
from tradetui.commands.process.console import ATTENTION, DONE, INTERRUPTED, REFUSED, USAGE
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.show import archive_reading
from tradetui.desk.archive.coverage import Gap
from tradetui.desk.feeds.bills import BillHistory
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.exchange.errors import Busy
from tradetui.exchange.transport.http import HttpTransport
from tradetui.exchange.transport.transport import HttpResponse, TransportError, TransportErrorKind
from tradetui.profiles.load import Flags, load
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

Capture = pytest.CaptureFixture[str]
UNTIL = ("--until", (datetime.now(UTC) - timedelta(hours=1)).isoformat())
"""One moment for all commands of a test: what `1h` means goes on between them, and a fill may lie there."""


@pytest.fixture(scope="module")
def data_read_once(server: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of the account in hedge mode after all of it was read, which the rate limits make slow."""
    folder = tmp_path_factory.mktemp("read-once")
    with pytest.MonkeyPatch.context() as patch:
        point_at(server, patch, folder)
        assert main(["show", "pnl"]) == DONE
    return folder / "data"


@pytest.fixture
def point_at_archive(point: Point, data_read_once: Path, tmp_path: Path) -> Point:
    """Point the environment at the account in hedge mode, with an archive that is already read and the test's own."""
    shutil.copytree(data_read_once, tmp_path / "data")
    return point


def shown(capsys: Capture, *arguments: str, code: int = DONE) -> Any:
    assert main(["show", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("account", ["hedge", "one-way"])
def test_every_day_is_what_the_fills_of_that_day_add_up_to(
    point_at_archive: Point, capsys: Capture, account: str
) -> None:
    point_at_archive(account)
    since, until = "2026-01-01", shown(capsys, "fills", "--limit", "200")[-1]["cTime"]
    beyond = str(int(until) + 1)  # results end before what `--until` names, fills with it
    days = shown(capsys, "pnl", "--by", "day", "--until", beyond)
    assert all(row["complete"] and row["funding"] is not None for row in days)
    assert any(Fraction(row["funding"]) for row in days)
    expected: dict[tuple[str, str], list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 3)
    for row in shown(capsys, "fills", "--all", "--since", since, "--until", until):
        fees = row["feeDetail"]
        key = utc_day(int(row["cTime"])), fees[0]["feeCoin"]
        gross, fee, volume = expected[key]
        expected[key] = [
            gross + Fraction(row["profit"]),
            fee + sum(Fraction(entry["totalFee"]) for entry in fees),
            volume + Fraction(row["quoteVolume"]),
        ]
    figures = {(row["day"], row["coin"]): [Fraction(row[name]) for name in ("gross", "fees", "volume")] for row in days}
    assert {key: sums for key, sums in figures.items() if any(sums)} == dict(expected), "else there was funding alone"
    for row in days:
        assert Fraction(row["net"]) == sum(Fraction(row[name]) for name in ("gross", "fees", "funding"))
    audited = [row["unexplained"] for row in days if row["unexplained"] is not None]
    assert len(audited) > len(days) / 2 and set(audited) == {"0"}, "each day's wallet moved by its net and transfers"
    for by in ("total", "week", "month", "symbol", "coin"):
        rows = shown(capsys, "pnl", "--by", by, "--until", beyond)
        assert {next(iter(row)) for row in rows} == {"coin" if by == "total" else by}
        for name in ("gross", "funding", "net", "trades", "wins", "losses"):
            assert sum(Fraction(row[name]) for row in rows) == sum(Fraction(row[name]) for row in days)


def test_fills_without_their_fee_are_said_beside_what_they_are_part_of(
    point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_fees(rows: list[Any]) -> list[Any]:
        return [{**row, "feeDetail": None} if row["symbol"] == "ETHUSDT" else row for row in rows]

    monkeypatch.setattr(FuturesFill, "with_distinct_ids", without_fees)
    point()
    since = ("--since", "10d")
    for row in shown(capsys, "pnl", "--by", "symbol", *since):
        assert row["complete"] is (row["symbol"] != "ETHUSDT")
    for row in shown(capsys, "trips", *since):
        assert row["complete"] is (row["symbol"] != "ETHUSDT")
        assert row["complete"] or Fraction(row["fees"]) == 0
    assert main(["show", "pnl", *since]) == DONE
    printed_errors = capsys.readouterr().err
    assert (
        "the exchange gave no fee or no profit for" in printed_errors
        and "rows with complete false lack it" in printed_errors
    )
    assert main(["show", "fills", "--format", "bittytax", "--symbol", "ETHUSDT"]) == ATTENTION
    assert "enter it by hand" in capsys.readouterr().err


def utc_day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()


def test_trips_add_up_to_the_closing_orders_and_csv_holds_the_same(point_at_archive: Point, capsys: Capture) -> None:
    point_at_archive()
    rows = shown(capsys, "trips", *UNTIL)
    assert len(rows) > 20
    for row in rows:
        parts = (row["gross"], row["fees"], row["funding"] or 0)
        assert Fraction(row["net"]) == sum(Fraction(amount) for amount in parts)
    assert {row["profitDifference"] for row in rows} == {"0"}, (
        "computed from the fills, the exchange's profit comes out"
    )
    assert any(row["startProven"] for row in rows), "what is held shows that the fills are all there were"
    times = [int(row["closeTime"]) for row in rows]
    assert times == sorted(times, reverse=True)
    assert main(["show", "trips", *UNTIL, "--csv"]) == DONE
    printed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["closeTime"].lstrip("'") for row in printed] == [row["closeTime"] for row in rows]
    assert [utc_day(int(row["closeTime"])) for row in rows] == [row["closeTimeUtc"][:10] for row in printed]
    entries = [row["entry"] for row in rows if row["entry"] is not None]
    assert max(len(entry.replace(".", "").lstrip("0")) for entry in entries) == 12, "some entry is a long quotient"
    assert main(["show", "trips", *UNTIL, "--symbol", "BTCUSDT"]) == DONE
    heading, *lines = capsys.readouterr().out.splitlines()
    starts = {name: heading.index(name) for name in heading.split()}
    for line, row in zip(lines, (row for row in rows if row["symbol"] == "BTCUSDT"), strict=True):
        cell = line[starts["closeTime"] :][:19]
        assert datetime.fromisoformat(f"{cell}+00:00").timestamp() == int(row["closeTime"]) // 1000
        price = line[starts["exit"] :].split()[0]
        assert len(price.partition(".")[2]) == 1, "as the prices of BTCUSDT have"
        assert abs(Fraction(price) - Fraction(row["exit"])) <= Fraction(1, 20)
        for name in ("gross", "fees", "net", "profitDifference"):
            amount = line[starts[name] :].split()[0].replace("<", "")
            assert len(amount.partition(".")[2]) == 2, "as the screen rounds dollars"
            assert abs(Fraction(amount) - Fraction(row[name])) <= Fraction(1, 100)
    assert main(["show", "pnl", "--by", "coin", *UNTIL]) == DONE
    heading, *lines = capsys.readouterr().out.splitlines()
    of_dollars = [line.split() for line in lines if line.startswith("USD")]
    assert of_dollars and all(len(cell.partition(".")[2]) == 2 for cells in of_dollars for cell in cells[1:6])


def test_with_an_archive_the_exchange_is_not_asked_unless_fresh(
    point_at_archive: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    point_at_archive()
    until = shown(capsys, "fills", "--limit", "1")[0]["cTime"]
    before = shown(capsys, "pnl", "--by", "symbol", "--until", until)

    def refused(*_: object) -> None:
        raise LookupError("the exchange is asked")

    monkeypatch.setattr(OpenProfile, "reader", refused)
    assert shown(capsys, "pnl", "--by", "symbol", "--until", until) == before
    with pytest.raises(LookupError):
        archive_reading.open_archive(OpenProfile(load(os.environ, Flags())), 0, 1, fresh=True)


def test_ctrl_c_ends_the_booking_of_fills_at_once(point_at_archive: Point, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at_archive()
    went_on = False

    def interrupted(_: object) -> None:
        nonlocal went_on
        signal.raise_signal(signal.SIGINT)
        went_on = True

    monkeypatch.setattr(archive_reading, "_book_fills", interrupted)
    # A process that a shell started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            archive_reading.open_archive(OpenProfile(load(os.environ, Flags())), 0, 1, fresh=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not went_on


def test_a_reader_of_standard_error_that_has_gone_is_no_fault_of_the_archive(
    point_at_archive: Point, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise BrokenPipeError

    point_at_archive()
    monkeypatch.setattr(archive_reading, "_book_fills", gone)
    with pytest.raises(BrokenPipeError):
        archive_reading.open_archive(OpenProfile(load(os.environ, Flags())), 0, 1, fresh=False)


def test_bills_that_are_behind_the_fills_are_read_first(
    point_at_archive: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    point_at_archive()
    before = shown(capsys, "pnl", "--by", "symbol", *UNTIL)
    with closing(
        archive_reading.open_archive(OpenProfile(load(os.environ, Flags())), 0, 2**62, fresh=False)
    ) as archive:
        coverage = archive.bill_coverage(ProductType.USDT_FUTURES)
        assert coverage.until is not None
        read_until = coverage.until - 6 * 3_600_000
        archive.add_bills(ProductType.USDT_FUTURES, (), coverage._replace(until=read_until))

    async def fails(*_: object) -> None:
        raise Busy("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(BillHistory, "read_newest", fails)
        assert any(row["funding"] is None for row in shown(capsys, "pnl", "--by", "symbol", *UNTIL))
    assert shown(capsys, "pnl", "--by", "symbol", *UNTIL) == before


def test_what_an_archive_misses_of_a_period_is_read_and_goes_on_where_it_stopped(
    point_at_archive: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    since = ("--since", "45d", *UNTIL)
    point_at_archive()
    expected = {what: shown(capsys, what, *since) for what in ("pnl", "trips")}
    assert all(row["complete"] and row["funding"] is not None for row in expected["pnl"])
    shutil.rmtree(tmp_path / "data")
    assert all(row["complete"] for row in shown(capsys, "pnl", "--since", "2d", *UNTIL))
    read_gap, pages = FillHistory.read_gap, 0

    async def two_pages(self: FillHistory) -> bool:
        nonlocal pages
        pages += 1
        if pages > 2:
            raise Busy("no answer")
        return await read_gap(self)

    with monkeypatch.context() as patched:
        patched.setattr(FillHistory, "read_gap", two_pages)
        assert main(["show", "pnl", *since, "--json"]) == DONE
    printed = capsys.readouterr()
    assert not all(row["complete"] for row in json.loads(printed.out))
    assert "missing parts of this period could not be read: The exchange is busy" in printed.err
    assert "some fills of this period are not read yet" in printed.err
    kept = _fills_kept(tmp_path)
    assert shown(capsys, "pnl", *since) == expected["pnl"]
    read_since = _fills_kept(tmp_path)
    assert read_since > kept >= 200, "the pages that came before are kept"
    trips = [shown(capsys, "trips", *since), expected["trips"]]
    for row in trips[0] + trips[1]:
        del row["startProven"]  # a leg that is being traded waits with its proof
    assert trips[0] == trips[1]
    assert _fills_kept(tmp_path) > read_since, "some of these trips began before the period"


def test_an_interrupted_reading_loses_nothing_and_offline_the_archive_answers(
    point_at_archive: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    since = ("--since", "45d", *UNTIL)
    point_at_archive()
    expected = shown(capsys, "pnl", *since)
    shutil.rmtree(tmp_path / "data")
    read_gap, pages = FillHistory.read_gap, 0

    async def interrupted(self: FillHistory) -> bool:
        nonlocal pages
        pages += 1
        if pages == 3:
            signal.raise_signal(signal.SIGINT)
        return await read_gap(self)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    try:
        with monkeypatch.context() as patched:
            patched.setattr(FillHistory, "read_gap", interrupted)
            assert main(["show", "pnl", *since]) == INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out == ""
    kept = _fills_kept(tmp_path)
    assert kept >= 200

    async def unreachable(*_: object) -> HttpResponse:
        raise TransportError(TransportErrorKind.CONNECT, "no network", sent=False)

    def offline(*arguments: str, code: int = DONE) -> tuple[str, str]:
        with monkeypatch.context() as patched:
            patched.setattr(HttpTransport, "send", unreachable)
            assert main(["show", "pnl", *arguments, *UNTIL, "--json"]) == code
        return capsys.readouterr()

    assert "cannot be reached" in offline("--since", "45d", code=REFUSED)[1], "of some product types it has nothing"
    assert shown(capsys, "pnl", "--since", "1d", *UNTIL)
    printed, remarks = offline("--since", "45d")
    assert not all(row["complete"] for row in json.loads(printed))
    assert "missing parts of this period could not be read" in remarks
    assert shown(capsys, "pnl", *since) == expected
    assert json.loads(offline("--since", "45d")[0]) == expected
    assert _fills_kept(tmp_path) > kept


def _fills_kept(folder: Path) -> int:
    (file,) = (folder / "data").rglob("archive.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        count: int = connection.execute("SELECT count(*) FROM record WHERE kind = 'fill'").fetchone()[0]
    return count


def test_what_is_read_first_is_counted_on_standard_error(
    point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (console, archive_reading):
        monkeypatch.setattr(module, "stderr_is_terminal", lambda: True)
    point()
    assert main(["show", "pnl", "--product-type", "USDC-FUTURES", "--since", "5d", "--json"]) == DONE
    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert "\rreading fills and bills: 1 page" in printed.err
    assert "\rworking out results: done\n" in printed.err


def test_what_cannot_be_read_first_is_said(point: Point, capsys: Capture) -> None:
    with socket.socket() as closed_port:
        closed_port.bind(("127.0.0.1", 0))
        point(TRADETUI_BASE_URL=f"http://127.0.0.1:{closed_port.getsockname()[1]}")
        assert main(["show", "pnl", "--json"]) == REFUSED
    assert capsys.readouterr().out == ""


def test_one_symbol_and_one_product_type_alone(point_at_archive: Point, capsys: Capture, tmp_path: Path) -> None:
    point_at_archive()
    rows = shown(capsys, "pnl", "--by", "symbol", "--symbol", "btcusdt,ETHUSD")
    assert [row["symbol"] for row in rows] == ["BTCUSDT", "ETHUSD"]
    (row,) = shown(capsys, "pnl", "--product-type", "USDC-FUTURES")
    assert row["coin"] == "USDC"


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (["pnl", "--since", "soon"], "--since"),
        (["trips", "--until", "soon"], "--until"),
        (["pnl", "--since", "1d", "--until", "2d"], "--since: must be before --until"),
        (["trips", "--since", "2026-01-02", "--until", "2026-01-01"], "--since: must be before --until"),
        (["pnl", "--since", "-5d"], "--since: must not have a minus"),
        (["equity", "--since", "2090-01-01"], "--since: must not be in the future"),
        (["trips", "--symbol", " , "], "--symbol: must name a symbol"),
    ],
)
def test_a_wrong_time_names_option_rule_and_remedy(
    point: Point, capsys: Capture, arguments: list[str], parameter: str
) -> None:
    point()
    assert main(["show", *arguments]) == USAGE
    assert parameter in capsys.readouterr().err


def test_periods_that_follow_each_other_count_nothing_twice(point_at_archive: Point, capsys: Capture) -> None:
    point_at_archive()
    today = datetime.now(UTC).date()
    yesterday, day_before = today - timedelta(days=1), today - timedelta(days=2)
    at_eight = f"{yesterday}T08:00"
    for until, since in ((str(day_before), str(yesterday)), (at_eight, at_eight)):
        whole = shown(capsys, "pnl", *UNTIL)
        before, after = shown(capsys, "pnl", "--until", until), shown(capsys, "pnl", "--since", since, *UNTIL)
        for name in ("gross", "fees", "funding"):
            parts = [Fraction(row[name]) for row in (*before, *after) if row["coin"] == "USDT"]
            assert sum(parts) == sum(Fraction(row[name]) for row in whole if row["coin"] == "USDT")
    trips = shown(capsys, "trips", *UNTIL)
    closed = trips[len(trips) // 2]["closeTime"]
    later, earlier = shown(capsys, "trips", "--since", closed, *UNTIL), shown(capsys, "trips", "--until", closed)
    assert later + earlier == trips
    assert later[-1]["closeTime"] == closed
    (sample,) = shown(capsys, "equity")
    assert shown(capsys, "equity", "--until", sample["time"]) == []
    assert shown(capsys, "equity", "--since", sample["time"]) == [sample]


def test_a_period_that_begins_before_what_the_exchange_keeps_is_a_part(
    point_at_archive: Point, capsys: Capture
) -> None:
    point_at_archive()
    assert all(row["complete"] for row in shown(capsys, "pnl", "--since", "90d", *UNTIL))
    assert main(["show", "pnl", "--since", "365d", *UNTIL, "--json"]) == DONE
    printed = capsys.readouterr()
    assert not any(row["complete"] for row in json.loads(printed.out))
    assert "the exchange keeps ninety days" in printed.err
    assert "--fresh" not in printed.err


def test_fills_that_are_lost_are_said_and_asked_for_no_more(
    point_at_archive: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    point_at_archive()
    day = 86_400_000
    since = int(datetime.now(UTC).timestamp() * 1000) - 40 * day
    with closing(
        archive_reading.open_archive(OpenProfile(load(os.environ, Flags())), 0, 2**62, fresh=False)
    ) as archive:
        archive.add(FuturesFill, [], {ProductType.USDT_FUTURES: [Gap("", since, since + day)]})
    monkeypatch.setattr(OpenProfile, "reader", None)  # asking the exchange would fail
    assert main(["show", "pnl", "--by", "coin", "--since", "60d", *UNTIL, "--json"]) == DONE
    printed = capsys.readouterr()
    assert {row["coin"]: row["complete"] for row in json.loads(printed.out)}["USDT"] is False
    assert "they were not read while the exchange kept them" in printed.err and "--fresh" not in printed.err
    assert all(row["complete"] for row in shown(capsys, "pnl", "--since", "30d", *UNTIL))


def test_what_the_archive_does_not_hold_is_said_with_what_it_holds(point_at_archive: Point, capsys: Capture) -> None:
    point_at_archive()
    assert main(["show", "pnl", "--symbol", "BTCUSDT,NOSUCH,", "--json"]) == ATTENTION
    printed = capsys.readouterr()
    assert json.loads(printed.out), "one of them is there"
    assert "--symbol: the archive has no fill of NOSUCH; symbols" in printed.err
    assert main(["show", "trips", "--symbol", "NOSUCH", "--json"]) == ATTENTION
    printed = capsys.readouterr()
    assert json.loads(printed.out) == []
    assert "--symbol: the archive has no fill of NOSUCH; symbols with fills are BTCPERP, BTCUSD" in printed.err
    for what, sentence in (("pnl", "No fill was made"), ("trips", "No round trip ended"), ("equity", "No equity was")):
        assert main(["show", what, "--until", "2020-01-01"]) == DONE
        assert sentence in capsys.readouterr().err
    assert main(["show", "equity"]) == DONE
    assert len(capsys.readouterr().out.splitlines()) == 2, "an archive without samples takes one now"


def test_equity_is_sampled_at_most_once_a_minute(point: Point, capsys: Capture) -> None:
    point()
    (first,) = shown(capsys, "equity")
    accounts = shown(capsys, "accounts")
    assert abs(Fraction(first["equity"]) - sum(Fraction(row["usdtEquity"]) for row in accounts)) < 1_000
    assert shown(capsys, "equity") == [first], "the archive answers; nothing is read"
    assert shown(capsys, "equity", "--since", "3d", "--until", "2d") == []
    assert len(shown(capsys, "equity", "--fresh")) in (1, 2)
    assert shown(capsys, "pnl", "--since", "5d"), "an archive without fills is filled first"


def test_the_profile_says_when_a_day_begins(point_at_archive: Point, capsys: Capture, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        'default_profile = "east"\n[profiles.east]\ntimezone = "Asia/Kathmandu"\nbase_url = "https://api.bitget.com"\n',
        encoding="utf-8",
    )
    point_at_archive()
    until = shown(capsys, "fills", "--limit", "1")[0]["cTime"]
    utc = shown(capsys, "pnl", "--by", "day", "--until", until)
    point_at_archive(TRADETUI_CONFIG=str(config))
    east = shown(capsys, "pnl", "--by", "day", "--until", until)
    assert utc != east
    assert sum(Fraction(row["net"]) for row in utc) == sum(Fraction(row["net"]) for row in east)


def test_an_archive_that_is_damaged_inside_is_said(point_at_archive: Point, capsys: Capture, tmp_path: Path) -> None:
    point_at_archive()
    assert shown(capsys, "pnl")
    (file,) = (tmp_path / "data").rglob("archive.sqlite")
    damage_table(file, "ledger_quarter")
    assert main(["show", "pnl"]) == USAGE
    assert "it cannot be read (database disk image is malformed). Start tradetui once" in capsys.readouterr().err


def test_an_archive_of_an_earlier_version_is_set_aside_and_the_period_read_again(
    point_at_archive: Point, capsys: Capture, tmp_path: Path
) -> None:
    point_at_archive()
    until = str(int(shown(capsys, "fills", "--limit", "1")[0]["cTime"]) - 3_600_000)
    period = ("pnl", "--since", str(int(until) - 3 * 86_400_000), "--until", until)
    before = shown(capsys, *period)
    (file,) = (tmp_path / "data").rglob("archive.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version=14")
    assert main(["show", *period, "--json"]) == DONE
    printed = capsys.readouterr()
    assert [(row["coin"], row["net"]) for row in json.loads(printed.out)] == [
        (row["coin"], row["net"]) for row in before
    ]
    assert f"tradetui: {file}: it is of an earlier version and is kept as archive.sqlite.version-14-1." in printed.err
    assert file.with_name("archive.sqlite.version-14-1").exists()
