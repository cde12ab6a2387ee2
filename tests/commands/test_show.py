"""show, preview, doctor and journal against a sandbox in another process, over real HTTP."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE, REFUSED, USAGE
from tradetui.desk.tables.export import CsvTable, Format, write_rows
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import TABLES
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.product_types import ProductType

Capture = pytest.CaptureFixture[str]


def shown(capsys: Capture, *arguments: str, code: int = DONE) -> Any:
    assert main(["show", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("what", [what for what in TABLES if what not in ("transfers", "email")])
def test_every_reading_endpoint_of_an_ordinary_account(point: Point, capsys: Capture, what: str) -> None:
    point()
    rows = shown(capsys, what)
    assert rows
    known = set(TABLES[what].endpoint.row.names()) | {"source", "since", "provenFlat", "unionTotalMagin"}
    assert set(rows[0]) <= known


def test_the_brokers_endpoints(point: Point, capsys: Capture) -> None:
    point("broker")
    (row,) = shown(capsys, "email", "--sub-uid", "4200000001")
    assert row["subUid"] == "4200000001"
    assert isinstance(shown(capsys, "transfers", "--since", "6d", "--until", "1h"), list)


def test_limit_is_rows_in_all_and_pages_are_joined(point: Point, capsys: Capture) -> None:
    point()
    rows = shown(capsys, "fills", "--product-type", "USDT-FUTURES", "--limit", "250")
    assert len(rows) == len({row["tradeId"] for row in rows}) == 250
    assert len(shown(capsys, "convert", "--all")) > 100
    assert len(shown(capsys, "fills", "--product-type", "USDT-FUTURES")) == 100


def test_orders_are_merged_unless_a_status_is_given(point: Point, capsys: Capture) -> None:
    point()
    usdt = ("--product-type", "USDT-FUTURES")
    assert {row["status"] for row in shown(capsys, "orders", *usdt)} == {"live", "partially_filled"}
    assert {row["status"] for row in shown(capsys, "orders", *usdt, "--status", "live")} == {"live"}
    times = [int(row["cTime"]) for row in shown(capsys, "triggers", *usdt)]
    assert times == sorted(times, reverse=True)


def test_waiting_triggers_are_shown_where_they_are_asked_for(point: Point, capsys: Capture) -> None:
    point()
    usdt = ("--product-type", "USDT-FUTURES")
    waiting = shown(capsys, "triggers", "--waiting", *usdt)
    assert {row["planStatus"] for row in waiting} == {"live"}
    assert {row["planType"] for row in waiting} >= {"normal_plan", "profit_loss"} or len(waiting) > 3
    assert main(["show", "triggers", *usdt]) == DONE
    assert "--waiting prints those that still wait" in capsys.readouterr().err
    assert main(["show", "triggers", "--waiting", "--plan-status", "executed"]) == USAGE
    assert "not with --waiting" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["fills", "triggers", "spot-fills", "spot-bills", "convert"])
def test_csv_is_what_the_screen_exports_with_every_column(point: Point, capsys: Capture, what: str) -> None:
    point()
    # The market goes on meanwhile: what is compared ends before the test began.
    arguments = [what, "--product-type", "USDT-FUTURES", "--until", "1d", "--limit", "20"]
    received = shown(capsys, *arguments)
    assert main(["show", *arguments, "--csv"]) == DONE
    printed = capsys.readouterr().out
    endpoint = TABLES[what].endpoint
    records = [endpoint.row.from_row(row) for row in received]
    has_product_type = "productType" in {parameter.name for parameter in endpoint.request.parameters.values()}
    rows = [ProductRow(ProductType.USDT_FUTURES, record) if has_product_type else record for record in records]
    exported = io.StringIO()
    write_rows(exported, MemoryRows(rows, [row.row_id for row in rows], 1), TABLES[what].every_column, Format.CSV)
    assert rows and printed == exported.getvalue()


def test_csv_has_flat_fees_readable_times_and_ids_that_a_spreadsheet_keeps(point: Point, capsys: Capture) -> None:
    point()
    arguments = ["spot-fills", "--limit", "20", "--until", "1d"]
    rows = shown(capsys, *arguments)
    assert main(["show", *arguments, "--csv"]) == DONE
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(table) == len(rows) == 20
    for cells, row in zip(table, rows, strict=True):
        assert cells["tradeId"] == f"'{row['tradeId']}" and len(row["tradeId"]) > 15
        assert json.loads(cells["feeDetail"]) == row["feeDetail"]
        assert Decimal(cells["fee"]) == Decimal(row["feeDetail"]["totalFee"])
        assert cells["feeCoin"] == row["feeDetail"]["feeCoin"]
        assert cells["cTime"] == row["cTime"]
        seconds = int(row["cTime"])  # what spot fills are documented to have, unlike everything else
        assert datetime.fromisoformat(cells["cTimeUtc"]).timestamp() == seconds


@pytest.mark.parametrize("what", ["accounts", "orders", "positions"])
def test_csv_of_what_changes_has_the_screens_columns_and_rows(point: Point, capsys: Capture, what: str) -> None:
    point()
    rows = shown(capsys, what)
    assert main(["show", what, "--csv"]) == DONE
    table = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert table.fieldnames == CsvTable(TABLES[what].every_column).heading()
    name = "symbol" if what != "accounts" else "marginCoin"
    cells = list(table)
    before, after = ({row[name] for row in listed} for listed in (rows, shown(capsys, what)))  # the market goes on
    assert before & after and before & after <= {row[name] for row in cells} <= before | after
    assert all(row["productType"].endswith("-FUTURES") for row in cells)
    for column in ("stop", "funding"):
        assert what != "positions" or any(row[column] for row in cells)


def test_rows_of_all_product_types_come_newest_first(point: Point, capsys: Capture) -> None:
    point()
    rows = shown(capsys, "fills", "--product-type", "USDT-FUTURES,COIN-FUTURES,USDC-FUTURES", "--limit", "150")
    times = [int(row["cTime"]) for row in rows]
    assert len(rows) == 150
    assert times == sorted(times, reverse=True)
    assert len({row["symbol"][-4:] for row in rows}) > 1


def test_without_a_limit_the_newest_page_of_all_product_types_is_given_without_a_gap(
    point: Point, capsys: Capture
) -> None:
    point()
    # The market goes on meanwhile: what is compared ends before the test began.
    every = ("fills", "--product-type", "USDT-FUTURES,COIN-FUTURES,USDC-FUTURES", "--since", "60d", "--until", "1d")
    rows = shown(capsys, *every)
    assert main(["show", *every, "--json", "--limit", "100"]) == DONE
    assert [row["tradeId"] for row in rows] == [row["tradeId"] for row in json.loads(capsys.readouterr().out)]


CUT = "these are the newest {} rows; there are more: {} prints more, --all reads every page"


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["fills", "--product-type", "USDT-FUTURES"], 100),
        (["fills"], 100),
        (["spot-bills"], 100),
        (["convert"], 20),
        (["triggers", "--product-type", "USDT-FUTURES"], 100),
        (["orders", "--product-type", "USDT-FUTURES", "--status", "live"], None),
        (["fills", "--product-type", "USDT-FUTURES", "--symbol", "XRPUSDT", "--since", "1m"], None),
        (["accounts"], None),
        (["fills", "--product-type", "USDT-FUTURES", "--limit", "7"], 7),
        (["fills", "--product-type", "USDT-FUTURES", "--limit", "100"], 100),
        (["fills", "--limit", "250"], 250),
        (["orders", "--product-type", "USDT-FUTURES", "--status", "live", "--limit", "99"], None),
        (["convert", "--all"], None),
    ],
)
@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_what_is_cut_is_said(point: Point, capsys: Capture, arguments: list[str], count: int | None, form: str) -> None:
    point()
    assert main(["show", *arguments, form]) == DONE
    errors = capsys.readouterr().err
    if count is None:
        assert errors == ""
    else:
        limit = "a larger --limit" if "--limit" in arguments else "--limit N"
        waiting = "tradetui: these trigger orders have ended; --waiting prints those that still wait.\n"
        cut = f"tradetui: {CUT.format(count, limit)}.\n"
        assert errors == (cut + waiting if arguments[0] == "triggers" else cut)


def test_exactly_one_page_is_not_cut(point: Point, capsys: Capture) -> None:
    point()
    usdt = ("fills", "--product-type", "USDT-FUTURES")
    hundredth = shown(capsys, *usdt, "--limit", "100", "--until", "1d")[-1]
    newest = shown(capsys, *usdt, "--since", hundredth["cTime"], "--until", "1d")
    assert len(newest) == 100
    assert capsys.readouterr().err == ""


def ids_in_pieces(capsys: Capture, arguments: list[str], id_name: str, time_name: str) -> set[str]:
    """The rows of a span that one request may not ask for, each row once, newest first."""
    rows = shown(capsys, *arguments, "--all")
    ids = [row[id_name] for row in rows]
    times = [int(row[time_name]) for row in rows]
    assert len(ids) == len(set(ids)) > 0
    assert times == sorted(times, reverse=True)
    return set(ids)


@pytest.mark.parametrize(
    ("account", "arguments", "id_name", "time_name"),
    [
        ("broker", ["transfers"], "txId", "ts"),
        ("hedge", ["fills", "--product-type", "USDT-FUTURES", "--symbol", "ETHUSDT"], "tradeId", "cTime"),
        ("hedge", ["triggers", "--product-type", "USDT-FUTURES"], "orderId", "cTime"),
        ("hedge", ["orders"], "orderId", "cTime"),
        ("hedge", ["convert"], "id", "ts"),
        ("hedge", ["spot-bills"], "billId", "cTime"),
    ],
)
def test_a_long_span_is_read_in_pieces_without_gap_or_repetition(
    point: Point, capsys: Capture, account: str, arguments: list[str], id_name: str, time_name: str
) -> None:
    point(account)
    # In two halves that one request each may ask for, or in weeks, and at once. The market moves meanwhile: an order
    # may fill between two reads, and no row is asked of what was there for a part of the time.
    longest, step = (21, 7) if account == "broker" else (160, 80)
    now_ms, day_ms = time.time_ns() // 1_000_000, 86_400_000
    spans = [(now_ms - (end + step) * day_ms, now_ms - end * day_ms) for end in range(1, longest, step)]
    whole = [*arguments, "--since", str(spans[-1][0]), "--until", str(spans[0][1])]
    before = ids_in_pieces(capsys, whole, id_name, time_name)
    parts = {
        row[id_name]
        for since, until in spans
        for row in shown(capsys, *arguments, "--all", "--since", str(since), "--until", str(until))
    }
    after = ids_in_pieces(capsys, whole, id_name, time_name)
    assert before & after <= parts <= before | after
    assert before & after


def test_only_as_much_of_a_long_span_is_read_as_is_wanted(point: Point, capsys: Capture) -> None:
    point()
    two_years = ["fills", "--product-type", "USDT-FUTURES", "--since", "730d", "--until", "0d", "--all"]
    assert len(shown(capsys, *two_years, "--limit", "150")) == 150
    assert main(["show", "fills", "--since", "200d", "--until", "1d"]) == USAGE
    assert "With --all that is done for you." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "code", "sentence"),
    [
        ([{"symbol": "BTCUSDT", "holdSide": "long", "total": "abc"}], REFUSED, "1 row came, none readable"),
        (
            [
                {"symbol": "BTCUSDT", "holdSide": "long", "total": "abc"},
                {"symbol": "ETHUSDT", "holdSide": "long", "total": "1", "marginCoin": "USDT"},
            ],
            ATTENTION,
            "not shown, since unreadable: 1 row.",
        ),
    ],
)
def test_positions_that_cannot_be_read_are_told(
    point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch, rows: list[Any], code: int, sentence: str
) -> None:
    from tradetui.exchange.transport.http import HttpTransport
    from tradetui.exchange.transport.transport import BeforeFirstByte, HttpRequest, HttpResponse

    async def positions(self: HttpTransport, request: HttpRequest, _: BeforeFirstByte | None) -> HttpResponse:
        body = json.dumps({"code": "00000", "msg": "success", "requestTime": 1, "data": rows}).encode()
        return HttpResponse(200, {"content-type": "application/json"}, body)

    point()
    monkeypatch.setattr(HttpTransport, "send", positions)
    assert main(["show", "positions", "--json", "--product-type", "USDT-FUTURES"]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--id-less-than", "abc"], "--id-less-than: an id, which has digits alone; given: abc."),
        (["--since", "2098-01-01"], "--since: must not be in the future; given: 2098-01-01 00:00:00 UTC."),
    ],
)
def test_what_finds_nothing_is_refused_before_it_is_asked(
    point: Point, capsys: Capture, arguments: list[str], sentence: str
) -> None:
    point()
    assert main(["show", "fills", *arguments]) == USAGE
    assert sentence in capsys.readouterr().err


def test_times_without_a_zone_are_in_the_profiles_as_those_of_results_are(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    profile = 'base_url = "http://127.0.0.1:1"\ntimezone = "Pacific/Auckland"'
    config.write_text(f'default_profile = "far"\n[profiles.far]\n{profile}\n')
    config.chmod(0o600)
    for name in ("API_KEY", "API_SECRET", "PASSPHRASE"):
        monkeypatch.setenv(f"TRADETUI_{name}", "made-up")
    assert main(["show", "fills", "--config", str(config), "--since", "2098-01-01"]) == USAGE
    assert "given: 2098-01-01 00:00:00 NZDT" in capsys.readouterr().err


def test_a_refusal_prints_no_heading(point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    point()
    monkeypatch.setenv("TRADETUI_API_SECRET", "wrong")
    for form in ([], ["--csv"]):
        assert main(["show", "positions", *form]) == REFUSED
        assert capsys.readouterr().out == ""


def test_a_symbol_is_asked_of_the_product_types_that_trade_it(point: Point, capsys: Capture) -> None:
    point()
    for symbol in ("BTCUSDT", "BTCUSD", "ETHPERP"):
        rows = shown(capsys, "fills", "--symbol", symbol, "--limit", "5")
        assert {row["symbol"] for row in rows} == {symbol}


def test_transfers_of_longer_than_a_week_are_read_in_pieces(point: Point, capsys: Capture) -> None:
    point("broker")
    rows = shown(capsys, "transfers", "--since", "30d", "--all")
    times = [int(row["ts"]) for row in rows]
    assert times == sorted(times, reverse=True)
    assert max(times) - min(times) > 7 * 86_400_000
    assert main(["show", "transfers", "--since", "30d"]) == USAGE
    assert "7 days" in capsys.readouterr().err


def test_the_catalogue(capsys: Capture) -> None:
    rows = shown(capsys, "endpoints")
    assert [row["number"] for row in rows if row["core"]] == list(range(1, 14))


def test_the_catalogue_says_the_rule_of_every_parameter(capsys: Capture) -> None:
    rows = {row["name"]: row for row in shown(capsys, "endpoints")}
    for name, endpoint in CATALOGUE.items():
        by_name = {parameter["name"]: parameter for parameter in rows[name]["parameters"]}
        for parameter in endpoint.request.parameters.values():
            row = by_name.pop(parameter.name)
            assert (row["required"], row["rule"]) == (parameter.required, parameter.rule)
            assert row["rule"] != "text", "a rule says which text"
            assert row["values"] == (list(parameter.choices) or None)
        assert not by_name
        assert (rows[name]["paging"] is None) is (endpoint.page is None)
        assert (rows[name]["time"] is None) is (endpoint.time is None)
    limit = {parameter["name"]: parameter for parameter in rows["spot.bills"]["parameters"]}["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 500, 100)
    assert rows["broker.transfers"]["time"]["longestDays"] == 7
    (accounts,) = rows["subaccounts.create_batch"]["parameters"]
    assert [element["name"] for element in accounts["elements"]][:2] == ["subAccountName", "passphrase"]
    assert accounts["most"] == 5


@pytest.mark.parametrize("what", TABLES)
def test_help_prints_the_rule_of_every_parameter(what: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["show", what, "--help"])
    text = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    for parameter in TABLES[what].endpoint.request.parameters.values():
        if parameter.name not in ("startTime", "endTime", "limit"):
            choices = ", ".join(parameter.choices)
            rule = choices if parameter.name == "productType" else parameter.changed(required=False).explanation
            assert rule.replace("- ", "-") in text, parameter.name


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fills", "--since", "soon"], "--since: must be a day, a month, a time, or a span"),
        (["fills", "--since", "200d"], "--until: at most three months, taken as 90 days, after --since"),
        (["triggers", "--until", "200d"], "--since: required if --until is more than three months ago"),
        (["convert", "--since", "200d"], "--until: at most 90 days after --since"),
        (["transfers", "--until", "1d"], "--since: --since and --until are both given or both empty"),
        (["transfers", "--since", "200d", "--until", "195d"], "--since: within the last 90 days; given: 20"),
        (["email", "--sub-uid", "desk1"], "--sub-uid: a sub-account's UID; given: desk1. Give its digits"),
        (["spot-fills", "--until", "91d"], "--until: within the last 90 days; given: 20"),
        (["orders", "--status", "filled"], "--status: live or partially_filled"),
        (["spot-fills", "--id-less-than", ""], "--id-less-than"),
        (["fills", "--product-type", "EUR"], "product"),
    ],
)
def test_bad_input_names_parameter_and_rule(point: Point, capsys: Capture, arguments: list[str], sentence: str) -> None:
    point()
    assert main(["show", *arguments]) == USAGE
    output = capsys.readouterr()
    assert sentence in output.err
    assert "Traceback" not in output.err


def test_a_refusal_closes_the_array_and_is_told(point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    point()
    monkeypatch.setenv("TRADETUI_API_SECRET", "wrong")
    assert main(["show", "fills", "--json"]) == REFUSED
    output = capsys.readouterr()
    assert json.loads(output.out) == []
    assert "40009" in output.err


def test_a_unified_account_is_shown_in_its_own_names(point: Point, capsys: Capture) -> None:
    point("unified")
    for table, name in {
        "fills": "execPrice",
        "positions": "avgPrice",
        "accounts": "effEquity",
        "orders": "qty",
    }.items():
        rows = shown(capsys, table)
        assert rows and name in rows[0], table
        assert "v3" not in rows[0]
    usdt = ("--product-type", "USDT-FUTURES")
    for waits in ((), ("--waiting",)):
        rows = shown(capsys, "triggers", *usdt, *waits)
        assert rows and {row["type"] for row in rows} <= {"tpsl", "trigger"} and "planType" not in rows[0]
    fills = shown(capsys, "fills", *usdt, "--since", "89d", "--all", "--until", "1d")
    assert {fill["tradeSide"] for fill in fills} >= {"open_long", "close_short"}, "the words of v3"
    assert int(fills[0]["createdTime"]) - int(fills[-1]["createdTime"]) > 31 * 86_400_000, "more than one span"
    assert main(["show", "fills", *usdt, "--until", "1d", "--limit", "1", "--csv"]) == DONE
    heading, row = csv.reader(io.StringIO(capsys.readouterr().out))
    assert "execId" not in heading and row[heading.index("price")] == fills[0]["execPrice"]
    assert main(["show", "spot-fills"]) == REFUSED
    assert "is not read of a unified account" in capsys.readouterr().err


def test_a_table_of_a_unified_account_has_its_figures_under_the_columns_names(point: Point, capsys: Capture) -> None:
    point("unified")
    for table, column, name in (
        ("fills", "price", "execPrice"),
        ("positions", "openPriceAvg", "avgPrice"),
        ("orders", "size", "qty"),
        ("accounts", "accountEquity", "accountEquity"),
    ):
        received = shown(capsys, table)
        assert main(["show", table]) == DONE
        heading, *lines = capsys.readouterr().out.splitlines()
        start = heading.index(f"  {column}  ") + 2 if f"  {column}  " in heading else heading.index(column)
        cells = {line[start:].split("  ")[0].strip() for line in lines}
        assert "" not in cells
        figures = [Decimal(row[name]) for row in received if row.get(name)]
        near = [cell for cell in cells for figure in figures if abs(Decimal(cell) - figure) < abs(figure) / 20]
        assert near, "the market went on between the two calls, though not far"


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("TRADETUI_API_KEY", "bg_nobody", "40037"),
        ("TRADETUI_API_SECRET", "another-secret", "40009"),
        ("TRADETUI_PASSPHRASE", "Another9", "40012"),
    ],
)
def test_a_wrong_key_is_a_sentence_with_a_remedy(
    point: Point, capsys: Capture, variable: str, value: str, code: str
) -> None:
    point(**{variable: value})
    assert main(["show", "accounts"]) == REFUSED
    errors = capsys.readouterr().err
    assert code in errors
    assert value not in errors


def test_doctor_says_once_that_the_key_is_refused(point: Point, capsys: Capture) -> None:
    point(TRADETUI_API_KEY="bg_nobody")
    assert main(["doctor"]) == ATTENTION
    report = capsys.readouterr().out
    assert [line.split()[1] for line in report.splitlines() if line.startswith("FAIL")] == ["key"]
    assert "--    account          not known while the check of the key fails" in report


def test_an_unreachable_exchange(point: Point, capsys: Capture) -> None:
    point(TRADETUI_BASE_URL="http://127.0.0.1:1")
    assert main(["show", "accounts"]) == REFUSED
    assert "cannot be reached" in capsys.readouterr().err


def test_preview_never_sends(point: Point, capsys: Capture) -> None:
    point()
    symbol = next(row["symbol"] for row in shown(capsys, "positions", "--product-type", "USDT-FUTURES"))
    leg = next(
        row["holdSide"]
        for row in shown(capsys, "positions", "--product-type", "USDT-FUTURES")
        if row["symbol"] == symbol
    )
    side = "buy" if leg == "long" else "sell"
    assert main(["preview", symbol, "--side", side, "--product-type", "USDT-FUTURES", "--json"]) == DONE
    plan = json.loads(capsys.readouterr().out)
    assert set(plan) == {
        "environment",
        "account",
        "mode",
        "source",
        "request",
        "before",
        "after",
        "estimates",
        "orders",
        "assumptions",
        "blocked",
    }
    assert plan["request"]["tradeSide"] == "Open"
    assert set(plan["before"]) == {"long", "short"}
    assert plan["blocked"] == ["Monitor mode: nothing can be sent."]
    assert main(["preview", "NOSUCHUSDT", "--product-type", "USDT-FUTURES", "--json"]) in (ATTENTION, REFUSED)
    assert main(["preview", symbol, "--size", "-1"]) == USAGE


@pytest.mark.parametrize("by_side", [True, False])
def test_preview_refuses_a_leg_that_is_not_held_by_name(point: Point, capsys: Capture, by_side: bool) -> None:
    point("one-way")
    position = shown(capsys, "positions", "--product-type", "USDT-FUTURES")[0]
    symbol, held = position["symbol"], position["holdSide"]
    other = "short" if held == "long" else "long"

    def preview(leg: str) -> list[str]:
        named = [symbol, "--side", "buy" if leg == "long" else "sell"] if by_side else [f"{symbol} {leg}"]
        return ["preview", *named, "--product-type", "USDT-FUTURES"]

    assert main(preview(held)) == DONE
    previewed = capsys.readouterr().out
    assert f"reverses          {symbol} {held.upper()}" in previewed
    assert " — (" in previewed and "— USD" not in previewed, "what is not known has no coin"
    assert main(preview(other)) == ATTENTION
    assert f"blocked           No {other.upper()} of {symbol} is held. Held is {held.upper()} " in (
        capsys.readouterr().out
    )


def test_preview_of_both_legs_says_how_to_name_one(point: Point, capsys: Capture) -> None:
    point()
    assert main(["preview", "BTCUSDT", "--product-type", "USDT-FUTURES"]) == ATTENTION
    assert "Both sides of BTCUSDT are held. Name one: BTCUSDT LONG or BTCUSDT SHORT." in capsys.readouterr().out
    assert main(["preview", "BTCUSDT LONG", "--side", "sell"]) == USAGE
    assert main(["preview", ""]) == USAGE
    assert "SYMBOL: must be a contract" in capsys.readouterr().err


def test_doctor_and_journal(point: Point, capsys: Capture) -> None:
    point()
    assert main(["doctor", "--json"]) in (DONE, ATTENTION)
    checks = {row["check"]: row for row in json.loads(capsys.readouterr().out)}
    for name in ("configuration", "account", "key", "clock", "permissions", "limits", "address"):
        assert checks[name]["ok"], checks[name]
    assert "of 4,800 calls a minute" in checks["address"]["found"]
    assert main(["journal", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out) == []
    point(TRADETUI_API_SECRET="wrong", SSLKEYLOGFILE="/somewhere/keys.log")
    assert main(["doctor"]) == ATTENTION
    output = capsys.readouterr().out
    assert "FAIL" in output
    assert "TLS key log      SSLKEYLOGFILE names /somewhere/keys.log" in output


def test_keys_are_the_bindings(capsys: Capture) -> None:
    assert main(["keys", "--json"]) == DONE
    rows = json.loads(capsys.readouterr().out)
    assert {"help", "filter", "reverse", "lock", "quit"} <= {row["id"] for row in rows}
    assert not [row for row in rows if "r" in row["keys"].split()], "r stays unbound"


def configured(settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration of one profile, in the place of any other."""
    file = tmp_path / "own.toml"
    base_url = os.environ.get("TRADETUI_BASE_URL", "http://127.0.0.1:1")
    file.write_text(f'[profiles.main]\nbase_url = "{base_url}"\n{settings}', encoding="utf-8")
    monkeypatch.setenv("TRADETUI_CONFIG", str(file))


def test_keys_are_the_profiles_own_as_far_as_they_are_in_force(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configured('[profiles.main.keys]\nreverse = "q"\nzoom = "f5"\n', tmp_path, monkeypatch)
    assert main(["keys", "--json"]) == DONE
    output = capsys.readouterr()
    keys = {row["id"]: row["keys"] for row in json.loads(output.out)}
    assert (keys["reverse"], keys["quit"], keys["zoom"]) == ("R", "q", "F5")
    assert "keys.reverse is not taken: q is the key of quit too" in output.err


def test_doctor_finds_keys_and_a_theme_there_are_not(
    point: Point, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    point()
    settings = 'theme = "nope"\n[profiles.main.keys]\nreverse = "q"\nbogusid = "z"\nzoom = "zork"\n'
    configured(settings, tmp_path, monkeypatch)
    assert main(["doctor", "--json"]) == ATTENTION
    failed = [row for row in json.loads(capsys.readouterr().out) if not row["ok"]]
    findings = " ".join(row["found"] for row in failed if row["check"] == "keys")
    for finding in ("keys.reverse is not taken", "keys.bogusid is not the id of a key", "there is no key 'zork'"):
        assert finding in findings
    assert next(row["remedy"] for row in failed if row["check"] == "theme").startswith("Set theme to tradetui-dark, ")


def test_without_any_configuration_three_lines_say_what_to_do(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("TRADETUI_API_KEY", "TRADETUI_BASE_URL", "TRADETUI_CONFIG", "TRADETUI_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == USAGE
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == 3
    assert "tradetui demo" in errors and "tradetui init" in errors


@pytest.mark.parametrize("command", ["demo", "monitor", ""])
def test_without_a_terminal_the_screen_says_so(
    point: Point, capsys: Capture, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point()
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main([command] if command else []) == USAGE
    assert "needs a terminal" in capsys.readouterr().err


def test_a_picture_without_a_terminal(tmp_path: Any, capsys: Capture) -> None:
    file = tmp_path / "picture.txt"
    arguments = ["demo", "--screenshot", str(file), "--size", "100x30", "--after", "2", "--keys", "3,z"]
    assert main(arguments) == DONE
    assert "3 Orders" in file.read_text()
    assert main(["demo", "--screenshot", str(tmp_path / "none" / "x.svg"), "--after", "0"]) == USAGE


def test_the_demo_shows_the_product_types_that_were_asked_for(tmp_path: Any) -> None:
    file = tmp_path / "picture.txt"
    arguments = ["demo", "--screenshot", str(file), "--size", "120x36", "--after", "2"]
    assert main([*arguments, "--product-type", "coin-futures"]) == DONE
    assert "BTCUSD " in file.read_text() and "BTCUSDT" not in file.read_text()


def test_the_demo_opens_its_unified_account(tmp_path: Any, capsys: Capture) -> None:
    file = tmp_path / "picture.txt"
    arguments = ["demo", "--unified", "--screenshot", str(file), "--size", "120x36", "--after", "2"]
    assert main(arguments) == DONE
    assert "unified" in file.read_text()
    assert main([*arguments, "--profile", "hedge"]) == USAGE
    assert "--unified opens the account unified, not 'hedge'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "value", "remedy"),
    [
        ("--base-url", "http://127.0.0.1:18090", "Leave --base-url out"),
        ("--proxy", "http://127.0.0.1:3128", "Leave --proxy out"),
        ("--config", "own_keys.toml", "the demo reads no configuration"),
        ("--data-dir", "elsewhere", "Leave --data-dir out"),
        ("--product-type", "SUSDT-FUTURES", "Use one or more of USDT-FUTURES, COIN-FUTURES, USDC-FUTURES"),
        ("--product-type", "USDT-FUTURES,usdt-futures", "Use one or more of"),
    ],
)
def test_what_the_demo_cannot_follow_is_refused(flag: str, value: str, remedy: str, capsys: Capture) -> None:
    assert main(["demo", "--screenshot", "unwritten.txt", flag, value]) == USAGE
    assert remedy in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    is_offered = f" {flag} " in capsys.readouterr().out
    assert is_offered == (flag == "--product-type"), "help offers nothing that is always refused"


def test_a_past_plan_state_that_the_exchange_does_not_list_is_refused_with_the_reason(
    point: Point, capsys: Capture
) -> None:
    point()
    assert main(["show", "triggers", "--plan-status", "fail_trigger"]) == USAGE
    message = capsys.readouterr().err
    assert "that the exchange lists for a query" in message
    assert "executed, fail_execute, cancelled" in message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["sandbox", "--fault", "nosuch=1"], "unknown fault"), (["sandbox", "--host", "203.0.113.1"], "cannot listen")],
)
def test_a_sandbox_that_cannot_be_is_said(capsys: Capture, arguments: list[str], sentence: str) -> None:
    assert main(arguments) == USAGE
    assert sentence in capsys.readouterr().err
