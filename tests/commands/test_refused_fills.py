"""Fills that an exchange does not give, or gives in rows that cannot be read: `show pnl` asks once in some hours."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.process.console import DONE
from tradetui.commands.show import archive_reading
from tradetui.commands.show.archive_reading import REFUSED_FOR_MS
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger.missing_fills import MissingSpan
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import SystemClock
from tradetui.exchange.errors import Rejected, UnreadableReply
from tradetui.wire.endpoints.reply import UndecodableRow
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFillsRequest
from tradetui.wire.product_types import ProductType

UNTIL = ("--until", (datetime.now(UTC) - timedelta(hours=1)).isoformat())
PERIOD = ("--product-type", "USDT-FUTURES", "--since", "20d", *UNTIL)


@pytest.mark.parametrize("is_refused", [True, False])
def test_fills_that_were_asked_for_in_vain_are_not_asked_for_again_for_some_hours(
    point: Point,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    is_refused: bool,
) -> None:
    point(TRADETUI_PRODUCT_TYPES="USDT-FUTURES")
    assert main(["show", "pnl", *PERIOD[:2], "--since", "1d", *UNTIL, "--json"]) == DONE
    capsys.readouterr()
    read, requests, undecodable_page = ExchangeReader.read, 0, ""

    async def read_in_vain(self: ExchangeReader, request: Any) -> Any:
        nonlocal requests, undecodable_page
        reply = await read(self, request)
        if not isinstance(request, FuturesFillsRequest) or request.id_less_than is None:
            return reply
        requests += 1
        if is_refused:
            raise Rejected("before your binding")
        undecodable_page = undecodable_page or request.id_less_than
        if request.id_less_than != undecodable_page:
            return reply
        row = UndecodableRow(0, "no price", {"tradeId": reply.rows[0].trade_id})
        return replace(reply, rows=reply.rows[1:], undecodable_rows=(row,))

    def printed(*arguments: str) -> tuple[bool, str]:
        """Whether the figures are complete, and what was said beside them."""
        assert main(["show", "pnl", *PERIOD, *arguments, "--json"]) == DONE
        out, err = capsys.readouterr()
        return all(row["complete"] for row in json.loads(out)), err

    with monkeypatch.context() as patched:
        patched.setattr(ExchangeReader, "read", read_in_vain)
        assert not printed()[0]
        assert requests >= 1
        requests = 0
        is_complete, remarks = printed()
        assert (is_complete, requests) == (False, 0)
        reason = "before your binding" if is_refused else "a row of theirs cannot be read"
        assert "the exchange refused some fills of USDT-FUTURES in this period at" in remarks
        assert reason in remarks
    (file,) = (tmp_path / "data").glob("**/archive.sqlite")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE fill_gap SET refused_ms = refused_ms - ?", (REFUSED_FOR_MS,))
    is_complete, remarks = printed()
    assert is_complete
    assert "refused some fills" not in remarks


def test_when_fills_are_asked_for_again_is_right_over_a_change_of_the_clocks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused_ms = unix_ms(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    gap = MissingSpan(ProductType.USDT_FUTURES, 0, refused_ms, refused_ms=refused_ms, refusal="before your binding")
    monkeypatch.setattr(archive_reading, "unread_gaps", lambda *_: [gap])
    monkeypatch.setattr(SystemClock, "wall_ms", lambda _: refused_ms + 60_000)
    archive_reading._incomplete_types(Archive(None), (), 0, refused_ms, ZoneInfo("Europe/Berlin"))
    sentence = capsys.readouterr().err
    assert "in this period at 02:30 CEST" in sentence
    assert "requested again after 04:30 CET" in sentence


@pytest.mark.parametrize("times", [1, 1_000])
def test_a_reply_that_cannot_be_read_is_asked_for_again(
    point: Point, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    point(TRADETUI_PRODUCT_TYPES="USDT-FUTURES")
    assert main(["show", "pnl", *PERIOD[:2], "--since", "1d", *UNTIL, "--json"]) == DONE
    capsys.readouterr()
    read, garbled = ExchangeReader.read, 0

    async def read_garbled(self: ExchangeReader, request: Any) -> Any:
        nonlocal garbled
        if isinstance(request, FuturesFillsRequest) and request.id_less_than is not None and garbled < times:
            garbled += 1
            raise UnreadableReply("no JSON", endpoint="futures.fills")
        return await read(self, request)

    def is_complete() -> bool:
        assert main(["show", "pnl", *PERIOD, "--json"]) == DONE
        out, err = capsys.readouterr()
        assert "refused some fills" not in err
        return all(row["complete"] for row in json.loads(out))

    with monkeypatch.context() as patched:
        patched.setattr(ExchangeReader, "read", read_garbled)
        assert is_complete() == (times == 1)
        assert garbled == min(times, 2), "a second time at once, and then not before somebody asks"
    assert is_complete()
