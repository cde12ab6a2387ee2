"""Columns: every field of the interface has one, and what is shown is what was received."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.wire.model_rows import ROWS, one
from tradetui.desk.overview.overview_table import OVERVIEW
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, UNKNOWN, CellFormat, Precision, number, percent
from tradetui.desk.tables.cells.column import Column, Tone, ranked
from tradetui.desk.tables.columns.fills import fill_columns
from tradetui.desk.tables.columns.shared_columns import NOT_SUMMED, totals_columns
from tradetui.desk.tables.columns.triggers import trigger_columns
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow
from tradetui.desk.tables.rows.row_source import MemoryRows, view
from tradetui.desk.tables.table import LOOKUPS, PANELS, TABLES, Table, TableName
from tradetui.exchange.errors import Rejected
from tradetui.profiles.model import Intervals
from tradetui.trading.positions import FromFills, Position, reported
from tradetui.trading.spot_totals import NOT_NAMED, added
from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.errors import ENDPOINT_LABELS
from tradetui.wire.models.spot import ConvertRecord
from tradetui.wire.product_types import ProductType

POSITION = {
    "symbol": "BTCUSDT",
    "holdSide": "long",
    "total": "0.5",
    "openPriceAvg": "60000.123456789012",
    "markPrice": "60100",
    "liquidationPrice": "50000",
    "cTime": "1780000000000",
}
RECEIVED = ROWS | {"futures.positions": POSITION}
UNDER_OTHER_NAMES = {
    "positions": {"holdSide", "total", "openPriceAvg", "markPrice", "unrealizedPL", "achievedProfits", "symbol"}
}


def row_of(table: str, values: dict[str, Any] | None = None) -> Any:
    """A row as its table gets it."""
    record = one(TABLES[table].endpoint_name, RECEIVED[TABLES[table].endpoint_name] | (values or {}))
    if table == "positions":
        return reported(ProductType.USDT_FUTURES, record)
    return ProductRow(ProductType.USDT_FUTURES, record) if TABLES[table].endpoint_name.startswith("futures") else record


def optional_fields(table: str) -> list[str]:
    """What a row need not have; a trigger order's status tells it from other orders."""
    record = CATALOGUE[TABLES[table].endpoint_name].row
    names = [name for name, at in record._attributes.items() if not record.model_fields[at].is_required()]
    return [name for name in names if name != "planStatus"]


def column(table: str, id_: str) -> Column[Any]:
    return next(column for column in TABLES[table].every_column if column.id == id_)


@pytest.mark.parametrize("table", TABLES)
def test_every_field_of_the_interface_can_be_a_column(table: str) -> None:
    named = {column.id for column in TABLES[table].every_column} | UNDER_OTHER_NAMES.get(table, set())
    assert set(CATALOGUE[TABLES[table].endpoint_name].row.names()) <= named


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_told_apart_and_titled(table: str) -> None:
    columns = TABLES[table].every_column
    assert len({column.id for column in columns}) == len(columns)
    for column in columns:
        assert column.title
        assert len(column.title) <= column.width, f"{column.title} is cut"


@pytest.mark.parametrize("table", TABLES)
def test_every_cell_of_a_full_and_of_a_bare_row_can_be_drawn_copied_and_sorted_by(table: str) -> None:
    optional = optional_fields(table)
    bare = dict.fromkeys(optional, "")
    for row in (row_of(table), row_of(table, bare)):
        for column in TABLES[table].every_column:
            text, tone = column.cell(row, DEFAULT_FORMAT)
            assert text != "", f"{column.id} is blank"
            assert isinstance(tone, Tone)
            assert column.exact(row, DEFAULT_FORMAT) != ""
            column.sort_key(row)


@pytest.mark.parametrize("table", TABLES)
def test_what_is_not_given_is_unknown_and_never_nought(table: str) -> None:
    optional = optional_fields(table)
    row = row_of(table, dict.fromkeys(optional, ""))
    for column in TABLES[table].every_column:
        if column.id in optional:
            assert column.cell(row, DEFAULT_FORMAT)[0] in (UNKNOWN, "[]"), column.id


def test_a_position_from_fills_has_nothing_the_exchange_did_not_say() -> None:
    position = Position(
        product_type=ProductType.USDT_FUTURES,
        symbol="BTCUSDT",
        leg=PositionSide.SHORT,
        size=Decimal("0.5"),
        mode=PositionMode.HEDGE,
        source=FromFills(),
        entry=Decimal(100) / 3,
        realised=Decimal("-1.5"),
    )
    shown = {column.id: column.cell(position, DEFAULT_FORMAT) for column in TABLES["positions"].every_column}
    assert shown["size"][0] == "0.5"
    assert shown["entry"][0] == "33.33333333"
    assert shown["realised"] == ("-1.50", Tone.LOSS)
    assert shown["leg"] == ("SHORT", Tone.SHORT)
    assert shown["source"] == ("from fills?", Tone.WARN)
    for name in ("mark", "unrealised", "liquidation", "leverage", "takeProfit", "breakEvenPrice", "cTime"):
        assert shown[name][0] == UNKNOWN, name


def coin_position(symbol: str, profit: str, mark: str | None) -> Position:
    """A position whose profit is in its base coin, as fills tell it."""
    return Position(
        product_type=ProductType.COIN_FUTURES,
        symbol=symbol,
        leg=PositionSide.LONG,
        size=Decimal(1),
        mode=PositionMode.HEDGE,
        source=FromFills(),
        mark=None if mark is None else Decimal(mark),
        unrealised=Decimal(profit),
        realised=Decimal(profit),
    )


@pytest.mark.parametrize("id_", ["unrealised", "realised"])
def test_profit_in_a_coin_is_shown_in_dollars_at_the_mark_and_copied_as_it_was_received(id_: str) -> None:
    row = coin_position("BTCUSD", "-0.01192386", "90000")
    exact = CellFormat(exact=True)
    assert column("positions", id_).cell(row, DEFAULT_FORMAT) == ("~-1,073.15", Tone.LOSS)
    assert column("positions", id_).cell(row, exact) == ("-0.01192386 BTC", Tone.LOSS)
    assert column("positions", id_).exact(row, DEFAULT_FORMAT) == "-0.01192386"
    unmarked = coin_position("BTCUSD", "-0.01192386", None)
    assert column("positions", id_).cell(unmarked, DEFAULT_FORMAT) == ("-0.01192386 BTC", Tone.LOSS)
    dollars = row_of("positions", {"unrealizedPL": "5", "achievedProfits": "5"})
    assert column("positions", id_).cell(dollars, DEFAULT_FORMAT) == ("+5.00", Tone.GAIN)


@pytest.mark.parametrize("id_", ["unrealised", "realised"])
def test_profit_is_ordered_by_what_it_is_worth(id_: str) -> None:
    rows = [
        coin_position("ETHUSD", "9", None),
        row_of("positions", {"unrealizedPL": "-20", "achievedProfits": "-20"}),
        coin_position("BTCUSD", "-0.01", "90000"),
        coin_position("XRPUSD", "30", "2"),
        row_of("positions", {"unrealizedPL": "50", "achievedProfits": "50"}),
    ]
    source = MemoryRows(rows, list("01234"), 1)
    for reverse, expected in ((False, "21430"), (True, "34120")):
        shown = view(source, sort_key=column("positions", id_).sort_key, reverse=reverse)
        assert "".join(shown.row_id(index) or "" for index in range(5)) == expected, "the one without a mark comes last"


def test_an_unreadable_field_shows_what_came_marked() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, order(1, price="9o"))
    assert column("orders", "price").cell(row, DEFAULT_FORMAT) == ("9o?", Tone.WARN)
    assert column("orders", "price").exact(row, DEFAULT_FORMAT) == "9o"


def test_every_digit_is_shown_and_copied() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, fill(1, price="12345.678900", profit="0.00000001"))
    assert column("fills", "price").cell(row, DEFAULT_FORMAT)[0] == "12,345.678900"
    assert column("fills", "price").exact(row, DEFAULT_FORMAT) == "12345.678900"
    assert column("fills", "profit").cell(row, CellFormat(exact=True)) == ("+0.00000001", Tone.GAIN)
    assert column("fills", "profit").cell(row, DEFAULT_FORMAT) == ("+<0.01", Tone.GAIN)


def test_fees_of_two_coins_are_not_added_up() -> None:
    detail = [{"feeCoin": "USDT", "totalFee": "-0.1"}, {"feeCoin": "BGB", "totalFee": "-2"}]
    row = ProductRow(ProductType.USDT_FUTURES, fill(1, feeDetail=detail))
    assert column("fills", "fee").value(row) is None
    assert column("fills", "fee").cell(row, DEFAULT_FORMAT)[0] == "-0.1000 USDT, -2.0000 BGB"
    assert column("fills", "feeCoin").cell(row, DEFAULT_FORMAT)[0] == "USDT, BGB"


def test_no_words_of_a_side_nobody_knows_are_guessed() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, fill(1, side="sideways"))
    assert column("fills", "did").cell(row, DEFAULT_FORMAT) == ("sideways open", Tone.WARN)


def test_ids_sort_as_the_numbers_they_are() -> None:
    order_id = column("fills", "orderId")
    longer, shorter = (ProductRow(ProductType.USDT_FUTURES, fill(1, orderId=text)) for text in ("100", "99"))
    rows = view(MemoryRows([longer, shorter], ["100", "99"], 1), sort_key=order_id.sort_key)
    assert [rows.row_id(index) for index in range(2)] == ["99", "100"]


def test_times_are_in_the_zone_asked_for_and_copied_whole() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, fill(1, at_ms=1_790_000_000_123))
    east = timezone(timedelta(hours=5, minutes=30))
    assert column("fills", "cTime").cell(row, DEFAULT_FORMAT)[0] == "21 Sep 2026 14:13:20"
    assert column("fills", "cTime").cell(row, CellFormat(today=date(2026, 1, 1)))[0] == "21 Sep 14:13:20"
    assert column("fills", "cTime").cell(row, CellFormat(east, today=date(2026, 9, 21)))[0] == "19:43:20"
    assert column("fills", "cTime").exact(row, DEFAULT_FORMAT).endswith(".123Z")
    assert column("fills", "cTime").exact(row, CellFormat(east)).endswith(".123+05:30")


def test_the_price_of_a_convert_is_worked_out() -> None:
    for quoted, effective in (("33.4", "33.33333333"), ("0.031", "0.03"), ("", "33.33333333")):
        row = row_of("convert", {"fromCoinSize": "100", "toCoinSize": "3", "cnvtPrice": quoted})
        shown, _ = column("convert", "effectivePrice").cell(row, DEFAULT_FORMAT)
        assert shown == effective, "as the quoted price is told"
    assert column("convert", "effectivePrice").value(row_of("convert", {"toCoinSize": "0"})) is None


@pytest.mark.parametrize(
    ("table", "id_", "values"),
    [
        ("transfers", "type", {"type": "withdrawal"}),
        ("transfers", "type", {"type": "deposit"}),
        ("spot-bills", "size", {"size": "-3"}),
        ("spot-bills", "size", {"size": "3"}),
    ],
)
def test_what_only_moves_money_has_not_the_colour_of_a_result(table: str, id_: str, values: dict[str, str]) -> None:
    assert column(table, id_).cell(row_of(table, values), DEFAULT_FORMAT)[1] is Tone.PLAIN


@given(st.decimals(allow_nan=False, allow_infinity=False, places=8, min_value=-(10**12), max_value=10**12))
def test_a_number_loses_nothing(value: Decimal) -> None:
    assert number(value).replace(",", "") == trimmed_digits(value).removeprefix("-" if not value else "")
    assert number(value, signed=True).startswith("+") == (value > 0)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 8))
def test_any_number_can_be_shown(value: Decimal, places: int) -> None:
    for text in (number(value), number(value, places=places), number(value, at_most=places), percent(value)):
        assert len(text) < 400
        assert (text.strip("0.,%- ") == "") == (not value) or "E" in text, "nothing is made of something"


@pytest.mark.parametrize(
    ("value", "fields", "shown"),
    [
        ("1234567.5", {}, "1,234,567.5"),
        ("-0.00", {}, "0.00"),
        ("2.50", {"signed": True}, "+2.50"),
        ("2", {"places": 2}, "2.00"),
        ("0.00049", {"places": 2}, "<0.01"),
        ("0.00049", {"places": 2, "signed": True}, "+<0.01"),
        ("-0.4", {"places": 0}, "-<1"),
        ("33.3333333333", {"at_most": 8}, "33.33333333"),
        ("2.50", {"at_most": 8}, "2.50"),
        ("1.99999999999", {"at_most": 8}, "2"),
        ("1E+999", {}, "1E+999"),
    ],
)
def test_numbers(value: str, fields: dict[str, Any], shown: str) -> None:
    assert number(Decimal(value), **fields) == shown


def test_columns_load_no_models() -> None:
    program = (
        "import sys, tradetui.desk.tables.table, tradetui.desk.tables.rows.row_source;"
        "print(sorted({'pydantic', 'httpcore', 'httpx', 'textual'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_table_is_in_the_registry_with_a_key_of_its_own() -> None:
    assert [*TABLES, OVERVIEW.name] == list(TableName)
    assert len({table.key for table in (*TABLES.values(), OVERVIEW)}) == len(TableName)
    assert all(table.interval_s is not None for table in PANELS.values())
    assert all(table.interval_s is None for table in LOOKUPS.values())


def test_the_profiles_intervals_are_those_of_the_panels() -> None:
    assert Intervals().model_dump() == {name: table.interval_s for name, table in PANELS.items()}


@pytest.mark.parametrize(
    ("status", "shown", "tone"),
    [
        ("live", "waiting", Tone.PLAIN),
        ("executed", "executed", Tone.PLAIN),
        ("fail_execute", "failed", Tone.WARN),
        ("fail_trigger", "failed", Tone.WARN),
        ("FAIL_TRIGGER", "failed", Tone.WARN),
        ("cancelled", "cancelled", Tone.MUTED),
        ("never_heard_of", "never_heard_of", Tone.WARN),
    ],
)
def test_a_trigger_that_failed_looks_so_under_each_of_its_words(status: str, shown: str, tone: Tone) -> None:
    row = ProductRow(ProductType.USDT_FUTURES, trigger(1, status))
    assert column("triggers", "planStatus").cell(row, DEFAULT_FORMAT) == (shown, tone)
    assert column("triggers", "planStatus").exact(row, DEFAULT_FORMAT) == status, "copied as it came"


def test_a_stop_for_the_whole_position_has_no_size_of_nothing() -> None:
    row = row_of("triggers", {"size": "0", "planType": "pos_loss"})
    shown = {id_: column("triggers", id_).cell(row, DEFAULT_FORMAT)[0] for id_ in ("size", "planType")}
    assert shown == {"size": "whole", "planType": "stop-loss (position)"}
    assert column("triggers", "size").exact(row, DEFAULT_FORMAT) == "0"


def test_an_order_says_how_much_of_it_is_filled_in_per_cent() -> None:
    cells = [
        column("orders", "filled").cell(row_of("orders", {"size": "8", "baseVolume": filled}), DEFAULT_FORMAT)[0]
        for filled in ("2", "1.9996", "0", "7.999", "8", "0.001", "")
    ]
    assert cells == ["25 %", "25 %", "0 %", "99 %", "100 %", "<1 %", UNKNOWN]


def test_a_transfer_keeps_amount_and_coin_longest() -> None:
    by_rank = sorted(TABLES["transfers"].columns, key=lambda column: column.rank)
    assert [column.id for column in by_rank[:4]] == ["ts", "amount", "coin", "type"]


def test_columns_are_ranked_from_one_in_the_order_given_and_the_others_keep_their_rank() -> None:
    columns = ranked(*TABLES["orders"].columns, kept_longest="price,symbol")
    ranks = {column.id: column.rank for column in columns}
    assert [column.id for column in columns] == [column.id for column in TABLES["orders"].columns]
    assert (ranks["price"], ranks["symbol"]) == (1, 2)
    assert ranks["size"] == column("orders", "size").rank
    with pytest.raises(ValueError, match="no column has the id weight"):
        ranked(*columns, kept_longest="weight")


def test_places_of_a_symbol_are_found_whatever_its_case_and_unknown_of_another() -> None:
    cell_format = CellFormat(precisions={"BTCUSDT": Precision(1, 4)})
    assert cell_format.precision_of("btcusdt") == Precision(1, 4)
    assert cell_format.precision_of("ETHUSDT") == cell_format.precision_of(None) == Precision(None, None)


def test_a_price_has_the_places_of_its_contract_and_a_size_is_never_rounded() -> None:
    row = row_of("positions", {"total": "0.12", "openPriceAvg": "86752.44", "markPrice": "84197"})
    rounded, exact = (CellFormat(UTC, {"BTCUSDT": Precision(1, 4)}, exact) for exact in (False, True))
    shown = {id_: column("positions", id_).cell(row, rounded)[0] for id_ in ("size", "entry", "mark")}
    assert shown == {"size": "0.1200", "entry": "86,752.4", "mark": "84,197.0"}
    shown = {id_: column("positions", id_).cell(row, exact)[0] for id_ in ("size", "entry", "mark")}
    assert shown == {"size": "0.12", "entry": "86,752.44", "mark": "84,197"}
    longer = row_of("positions", {"total": "0.12345"})
    assert column("positions", "size").cell(longer, rounded)[0] == "0.12345"


def test_what_opens_a_position_has_no_profit_and_what_closes_one_at_its_entry_has_none_of_nothing() -> None:
    rows = [
        row_of("fills", {"profit": profit, "side": "buy", "tradeSide": trade_side})
        for profit, trade_side in (("0", "open"), ("0", "close"), ("1.5", "open"))
    ]
    shown = [column("fills", "profit").cell(row, DEFAULT_FORMAT)[0] for row in rows]
    assert shown == [UNKNOWN, "0.00", "+1.50"]


def test_a_one_way_fill_without_profit_opens() -> None:
    rows = [
        row_of("fills", {"profit": profit, "side": "buy", "tradeSide": "buy_single", "posMode": "one_way_mode"})
        for profit in ("0", "1.5")
    ]
    assert [column("fills", "profit").cell(row, DEFAULT_FORMAT)[0] for row in rows] == [UNKNOWN, "+1.50"]


def test_an_order_that_filled_today_has_its_time_and_another_its_day() -> None:
    moment_ms = int(datetime(2026, 11, 20, 23, 30, tzinfo=UTC).timestamp() * 1000)
    order_row = FilledOrder([ProductRow(ProductType.USDT_FUTURES, fill(1, moment_ms))])
    time = next(iter(fill_columns([order_row])))
    formats = [
        CellFormat(today=date(2026, 11, 20)),
        CellFormat(today=date(2026, 11, 21)),
        CellFormat(timezone(timedelta(hours=1)), today=date(2026, 11, 21)),
        CellFormat(today=date(2027, 1, 2)),
        DEFAULT_FORMAT,
    ]
    shown = [time.cell(order_row, cell_format)[0] for cell_format in formats]
    assert shown == ["23:30", "20 Nov 23:30", "00:30", "20 Nov 2026 23:30", "20 Nov 2026 23:30"]
    assert time.short is not None and time.width == 6, "and where there is no room for both"
    assert [time.short(order_row, cell_format) for cell_format in formats[:4]] == ["23:30", "20 Nov", "00:30", "Nov'26"]
    assert time.exact(order_row, DEFAULT_FORMAT) == "2026-11-20T23:30:00.000Z"


def test_an_order_says_of_how_many_fills_it_is() -> None:
    rows = [ProductRow(ProductType.USDT_FUTURES, fill(number, None, orderId="7")) for number in (2, 1)]
    count = column("fills", "fills")
    shown = [FilledOrder(rows), FilledOrder(rows, older_unknown=True), rows[0]]
    assert [count.cell(row, DEFAULT_FORMAT)[0] for row in shown] == ["2", "2+", "1"]


def test_an_orders_distance_is_from_the_mark_and_sorts_by_nearness() -> None:
    away = column("orders", "away")
    below, above = (
        MarkedRow(ProductType.USDT_FUTURES, order(1, price=price), Decimal(200)) for price in ("190", "204")
    )
    assert (away.cell(below, DEFAULT_FORMAT)[0], away.cell(above, DEFAULT_FORMAT)[0]) == ("-5.00", "+2.00")
    assert away.sort_key(above) < away.sort_key(below)  # type: ignore[operator]
    unmarked = MarkedRow(ProductType.USDT_FUTURES, order(1, price="190"), None)
    assert (away.cell(unmarked, DEFAULT_FORMAT)[0], away.sort_key(unmarked)) == (UNKNOWN, None)
    assert unmarked != below
    assert below == MarkedRow(ProductType.USDT_FUTURES, order(1, price="190"), Decimal(200))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_refusal_names_the_table_as_its_title_does_and_no_endpoint(table: Table[object]) -> None:
    refusal = Rejected("no", endpoint=table.endpoint.name)
    assert refusal.sentence == f"{table.title}: The exchange refused the request: no."


def test_every_endpoint_has_a_name_for_traders() -> None:
    assert ENDPOINT_LABELS.keys() == CATALOGUE.keys()


def test_fees_of_coins_that_are_not_named_are_not_added_up() -> None:
    rows = [
        {"id": id_, "ts": "1790000000000", "fee": fee, "fromCoinSize": "10", "toCoinSize": "9"}
        for id_, fee in (("1", "0.02"), ("2", "0.5"))
    ]
    totals = added({}, [ConvertRecord.from_row(row | {"fromCoin": "USDT", "toCoin": "ETH"}) for row in rows])
    (fees,) = [column for column in totals_columns(list(totals.values())) if column.id == "fees"]
    assert (fees.value(totals[NOT_NAMED]), fees.cell(totals[NOT_NAMED], DEFAULT_FORMAT)[0]) == (None, NOT_SUMMED)
    assert (totals[NOT_NAMED].rows, fees.value(totals["ETH"])) == (2, 0)
    moved = [column for column in totals_columns(list(totals.values())) if column.id in ("received", "paid")]
    assert [column.cell(totals[NOT_NAMED], DEFAULT_FORMAT)[0] for column in moved] == [UNKNOWN, UNKNOWN]


def test_transfers_are_named_as_traders_do_in_rows_and_totals() -> None:
    rows = [row_of("transfers", {"type": type_, "status": "fail"}) for type_ in ("withdrawl", "deposit")]
    shown = [column("transfers", id_).cell(rows[0], DEFAULT_FORMAT)[0] for id_ in ("type", "status")]
    assert shown == ["withdrawal", "failed"]
    assert column("transfers", "type").exact(rows[0], DEFAULT_FORMAT) == "withdrawl", "copied as it came"
    titles = [column.title for column in totals_columns(list(added({}, rows).values()))]
    assert titles[-2:] == ["withdrawal failed", "deposit failed"]


def test_where_all_stops_wait_what_each_does_stands_where_the_status_would() -> None:
    waiting, failed = (
        ProductRow(ProductType.USDT_FUTURES, trigger(number, state, None))
        for number, state in enumerate(("live", "fail_execute"))
    )
    ids = [column.id for column in sorted(trigger_columns([waiting]), key=lambda column: column.rank)]
    assert ids[:4] == ["symbol", "planType", "triggerPrice", "does"]
    assert not {"planStatus", "failureReason", "executePrice"} & set(ids)
    for rows in ([waiting, failed], [failed], []):
        assert "planStatus" in [column.id for column in trigger_columns(rows)]
