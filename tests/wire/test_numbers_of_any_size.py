"""A number of any size, in any field of any reply, is an unreadable field: never an exception, and never a wait."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import pytest

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import UnreadableBody, read_data, read_envelope

ABSURD = (
    "9" * 400,
    "-" + "9" * 400,
    "9" * 5000,
    "1e400",
    "-1e400",
    "1e999999999999",
    "1e-999999999999",
    "1e99999999999999999999999999",
    "0." + "1" * 3000,
    "NaN",
    "-Infinity",
    "99999999999999999999",
    "253402300799999",
)


def replies_with(number: str) -> list[tuple[str, bytes]]:
    """Of every endpoint a reply that holds this number in every field of its row, in its time and its cursor."""
    replies = []
    for name, endpoint in CATALOGUE.items():
        row = "{" + ",".join(f'"{field}":{number}' for field in endpoint.row.names()) + "}"
        data = f"[{row}]" if endpoint.rows_key is None else f'{{"{endpoint.rows_key}":[{row}],"endId":{number}}}'
        replies.append((name, f'{{"code":"00000","msg":"","requestTime":{number},"data":{data}}}'.encode()))
    return replies


def read_all(number: str) -> None:
    """Read them; raises whatever reading raises."""
    for name, body in replies_with(number):
        endpoint = CATALOGUE[name]
        envelope = read_envelope(body)
        assert envelope.request_time is None
        reply = read_data(endpoint, envelope)
        assert reply.count == 1
        assert reply.undecodable_rows or reply.rows


@pytest.mark.parametrize("quoted", [False, True], ids=["number", "text"])
def test_every_field_of_every_reply(quoted: bool) -> None:
    numbers = [json.dumps(number) if quoted else number for number in ABSURD]
    # In a process of its own: what takes for ever must end the test, and cannot be interrupted from within.
    program = f"from tests.wire.test_numbers_of_any_size import read_all\nfor number in {numbers!r}: read_all(number)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=200)


@pytest.mark.parametrize("number", ABSURD)
def test_a_code_of_any_size_is_a_code_or_none(number: str) -> None:
    body = f'{{"code":{number},"msg":"","requestTime":1,"data":null}}'.encode()
    with suppress(UnreadableBody):
        assert not read_envelope(body).ok
