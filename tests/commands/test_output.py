"""What scripts read: exact values, closed arrays, and no formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import pytest

from tradetui.cli import main
from tradetui.commands.process.console import USAGE, Output
from tradetui.commands.process.output import JsonWriter, csv_writer
from tradetui.desk.tables.export import csv_cell


def test_a_number_keeps_its_digits() -> None:
    stream = io.StringIO()
    writer = JsonWriter(Output(stream))
    writer.write({"size": Decimal("100.10"), "id": 1491757402652127232})
    writer.close()
    assert stream.getvalue() == '[\n{"size":100.10,"id":1491757402652127232}\n]\n'


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_array_is_an_array_whatever_its_length(count: int) -> None:
    stream = io.StringIO()
    writer = JsonWriter(Output(stream))
    for number in range(count):
        writer.write({"n": number})
    writer.close()
    assert json.loads(stream.getvalue()) == [{"n": number} for number in range(count)]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("-0.00500076", "-0.00500076"),
        ("+1.5", "+1.5"),
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("-", "'-"),
        (None, ""),
        ([{"feeCoin": "USDT", "totalFee": "-0.1"}], '[{"feeCoin":"USDT","totalFee":"-0.1"}]'),
    ],
)
def test_csv_cells(value: object, cell: str) -> None:
    assert csv_cell(value) == cell


def test_csv_reads_back() -> None:
    stream = io.StringIO()
    writer = csv_writer(Output(stream), ["a", "b"])
    writer.write({"b": 'quote " and, comma\nline', "a": None, "c": "not a column"})
    writer.close()
    assert list(csv.reader(io.StringIO(stream.getvalue()))) == [["a", "b"], ["", 'quote " and, comma\nline']]


@pytest.mark.parametrize("arguments", [["show", "nothing"], ["show", "pnl", "--by", "nothing"]])
def test_a_wrong_choice_names_the_choices_as_they_are_typed(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == USAGE
    message = capsys.readouterr().err
    assert "invalid choice: 'nothing'" in message
    assert "<" not in message
