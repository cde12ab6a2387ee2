"""Types of reply fields: the schemas put together for them are the ones that pydantic makes."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given
from hypothesis.strategies import decimals, from_regex, lists
from pydantic import TypeAdapter, ValidationError

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.json_text import load_json
from tradetui.wire.models.futures import FuturesFill, OrderDetail, PendingOrder
from tradetui.wire.replies.field_types import Places, SizeFigure, type_schema
from tradetui.wire.replies.record import Record, UndecodableRowError

RECORDS = sorted({endpoint.row for endpoint in CATALOGUE.values()}, key=lambda record: record.__name__)


def without_metadata(schema: Any) -> Any:
    """A schema without what only pydantic's JSON schemas use."""
    if not isinstance(schema, dict):
        return schema
    return {name: without_metadata(part) for name, part in schema.items() if name not in ("metadata", "serialization")}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record.__name__))
def test_every_field_is_read_by_the_schema_that_pydantic_makes(record: type[Record]) -> None:
    for name, field in record.model_fields.items():
        if name in Record.model_fields or field.alias in record.normalizers:
            continue
        field_type: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        expected = TypeAdapter(field_type).core_schema
        assert without_metadata(type_schema(field.annotation, field.metadata)) == without_metadata(expected), name


def parts_of(annotation: Any) -> list[Any]:
    """The types that a field's type is put together from."""
    return [annotation, *(part for inner in get_args(annotation) for part in parts_of(inner))]


NUMBERS = ("0", "-0.00", "12.50", "007", ".5", "5.", "+1", "1E-7", "1e5", "0.1000000000000000000000000000000")
ODD = (
    "0_1",
    " 1",
    "1 ",
    "1\n",
    "１",
    "٣",
    "Infinity",
    "-inf",
    "NaN",
    "1e400",
    "1e40",
    "0x1",
    "1,5",
    "",
    "e5",
    ".",
    "--1",
)
FIGURES = [
    (record, name)
    for record in RECORDS
    for name, field in record.model_fields.items()
    if Decimal in parts_of(field.annotation)
]


UNSIGNED = {
    *((record, name) for record in (PendingOrder, OrderDetail) for name in ("size", "base_volume")),
    (FuturesFill, "base_volume"),
}


@pytest.mark.parametrize(("record", "name"), FIGURES, ids=lambda part: getattr(part, "__name__", part))
def test_a_figure_is_only_what_is_written_as_a_number(record: type[Record], name: str) -> None:
    field = record.model_fields[name]
    field_type: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    adapter = TypeAdapter(field_type)
    for text in NUMBERS:
        assert adapter.validate_python(text) == Decimal(text)
    for number in (3, Decimal("0.25"), *(() if (record, name) in UNSIGNED else (-3,))):
        assert adapter.validate_python(number) == number
    for text in ODD:
        with pytest.raises(ValidationError):
            adapter.validate_python(text)


@pytest.mark.parametrize("text", ["1_0", " 1", "41", "-1", "1.5", "１"])
def test_a_count_of_places_is_a_whole_number_up_to_forty(text: str) -> None:
    assert [TypeAdapter(Places).validate_python(number) for number in (8, "8", "08", "8.0", "40")] == [8, 8, 8, 8, 40]
    with pytest.raises(ValidationError):
        TypeAdapter(Places).validate_python(text)


@given(lists(from_regex(r"[0-9]{1,15}(\.[0-9]{1,12}0{0,20})?", fullmatch=True), min_size=1, max_size=9))
def test_sizes_add_up_without_rounding(texts: list[str]) -> None:
    sizes = [TypeAdapter(SizeFigure).validate_python(text) for text in texts]
    assert Fraction(sum(sizes, Decimal(0))) == sum(map(Fraction, texts))
    assert Fraction(sizes[0] - sum(sizes[1:], Decimal(0))) == Fraction(texts[0]) - sum(map(Fraction, texts[1:]))


@given(decimals(-(10**15) + 1, 10**15 - 1, places=12))
def test_a_size_is_exact_however_its_number_is_written(size: Decimal) -> None:
    exponent = f"{size:e}" if size else "0"
    for text in (str(size), exponent, exponent.upper(), f"{size:f}"):
        assert TypeAdapter(SizeFigure).validate_python(text) == size
        assert TypeAdapter(SizeFigure).validate_python(load_json(text)) == size


@pytest.mark.parametrize("size", ["1E-10", "1E-12", "1.25e-10", "9.99999999999E-1", "1e14", "1.5E+3", "1.0E-7"])
def test_a_size_with_an_exponent_is_that_number(size: str) -> None:
    row = {"tradeId": "1", "symbol": "BTCUSDT", "price": "1", "side": "buy", "cTime": "1790000000000"}
    assert FuturesFill.from_row({**row, "baseVolume": load_json(size)}).base_volume == Decimal(size)


@pytest.mark.parametrize("zero", ["0E-8", "0E-16", "0e-18", "-0E-10"])
def test_a_size_of_zero_may_be_written_with_the_places_of_its_column(zero: str) -> None:
    nothing = TypeAdapter(SizeFigure).validate_python(zero)
    assert nothing == 0
    assert Fraction(Decimal("9" * 15 + "." + "9" * 12) + nothing) == Fraction("9" * 15 + "." + "9" * 12)


@pytest.mark.parametrize("size", ["1" * 16, "0." + "1" * 13, "1" * 29, "0.0000000000001", "1e-13", "1.5e-12", "1e15"])
def test_a_size_that_arithmetic_would_round_is_refused(size: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(SizeFigure).validate_python(size)
    row = {"tradeId": "1", "symbol": "BTCUSDT", "price": "1", "side": "buy", "cTime": "1790000000000"}
    with pytest.raises(UndecodableRowError, match="baseVolume"):
        FuturesFill.from_row({**row, "baseVolume": size})


def test_rows_are_read_without_looking_for_plugins() -> None:
    program = """if True:
        import sys
        from tradetui.wire.models.futures import FuturesFill
        from tradetui.wire.replies.record import read_rows
        fee = {"feeCoin": "USDT", "totalFee": "-0.1"}
        row = {"tradeId": "1", "symbol": "X", "price": "1", "baseVolume": "1", "side": "buy", "cTime": "1780000000000"}
        (fill,) = read_rows(FuturesFill, [{**row, "feeDetail": [fee]}])
        assert str(fill.fee_detail[0].total_fee) == "-0.1"
        print("importlib.metadata" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("size", ["-0.5", "-1E-3", "-.5"])
def test_a_minus_before_the_size_of_a_fill_or_an_order_turns_no_position_round(size: str) -> None:
    row = {"tradeId": "1", "orderId": "1", "symbol": "BTCUSDT", "price": "1", "side": "buy", "cTime": "1790000000000"}
    with pytest.raises(UndecodableRowError, match="baseVolume"):
        FuturesFill.from_row({**row, "baseVolume": size})
    with pytest.raises(UndecodableRowError, match="size"):
        PendingOrder.from_row({**row, "size": size})
    detail = OrderDetail.from_row({**row, "state": "filled", "size": size, "baseVolume": size})
    assert (detail.size, detail.base_volume, set(detail.unreadable)) == (None, None, {"size", "baseVolume"})
