"""`tradetui watch` as a script runs it: killed, resumed, ended by signals, by its reader, and without an exchange."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Point
from tests.ui.fixtures.hostile_text import HOSTILE
from tradetui.cli import main
from tradetui.commands.process.console import DONE, REFUSED, USAGE, Output
from tradetui.commands.watch import LineStream, event_as_json, event_line
from tradetui.desk.events.event_log import AccountEvent, EventId, EventKind, event_sentence
from tradetui.wire.json_text import dump_json
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import scrub

Capture = pytest.CaptureFixture[str]
PATIENCE_S = 120


@contextmanager
def watching(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, with the test's environment; killed if it still runs at the end."""
    command = [sys.executable, "-m", "tradetui", "watch", *arguments]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)]


def test_killed_and_resumed_each_fill_comes_exactly_once(point: Point, capsys: Capture) -> None:
    point()
    with watching("fill", "--json") as process:
        events = lines(process, 2)
        process.send_signal(signal.SIGKILL)
    for count in (1, 2):
        with watching("fill", "--json", "--since", events[-1]["id"]) as process:
            events += lines(process, count)
            process.send_signal(signal.SIGKILL)
    with watching("fill", "--json", "--since", events[-1]["id"]) as process:
        events += lines(process, 2)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None and process.stderr is not None
        # Not `communicate`, which forgets the lines that came together with those read before.
        rest, trouble = process.stdout.readlines(), process.stderr.read()
        assert (process.wait(PATIENCE_S), trouble) == (DONE, "")
    events += map(json.loads, rest)
    assert main(["show", "fills", "--all", "--since", events[0]["time"], "--json"]) == DONE
    fills = json.loads(capsys.readouterr().out)
    counts = Counter(event["fill"]["tradeId"] for event in events)
    assert set(counts.values()) == {1}
    # Product types are read at moments of their own; of each symbol every fill up to its newest event has come.
    newest_ms: dict[str, int] = {}
    for event in events:
        symbol = event["fill"]["symbol"]
        newest_ms[symbol] = max(int(event["time"]), newest_ms.get(symbol, 0))
    first_ms = int(events[0]["time"])
    made = {fill["tradeId"] for fill in fills if first_ms < int(fill["cTime"]) < newest_ms.get(fill["symbol"], 0)}
    assert made <= counts.keys()


def test_ends_with_its_reader_and_with_an_interrupt(point: Point) -> None:
    point()
    with watching("outcome") as process:
        assert process.stdout is not None
        process.stdout.close()  # nothing is ever printed: only the pipe tells
        process.stdout = None
        assert process.wait(PATIENCE_S) == DONE
    with watching() as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert any(f"  {kind} " in first for kind in EventKind)
        process.send_signal(signal.SIGINT)
        _, trouble = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, trouble) == (DONE, "")


def test_a_lost_link_is_said_once_and_a_wrong_key_at_once(point: Point) -> None:
    with socket.socket() as closed_port:
        closed_port.bind(("127.0.0.1", 0))
        point(TRADETUI_BASE_URL=f"http://127.0.0.1:{closed_port.getsockname()[1]}")
        with watching("fill") as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("tradetui: Link lost: The exchange cannot be reached")
            process.send_signal(signal.SIGTERM)
            assert process.communicate(timeout=PATIENCE_S) == ("", "")
            assert process.returncode == DONE
    point(TRADETUI_API_SECRET="not the secret")
    with watching("fill") as process:
        printed, trouble = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, printed) == (REFUSED, "")
        assert trouble.startswith("tradetui: The exchange does not accept the key")


def test_what_cannot_be_watched_or_resumed_names_option_rule_and_remedy(point: Point, capsys: Capture) -> None:
    point()
    assert main(["watch", "--since", "soon"]) == USAGE
    assert "--since: must be the id of an event, or a time" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["watch", "positions"])
    assert ended.value.code == USAGE
    assert "none of fill, order, trigger, alert, outcome" in capsys.readouterr().err


async def test_a_slow_reader_holds_up_nothing_and_gets_every_byte() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(writing, "w", encoding="ascii") as pipe:
        stream = LineStream(pipe)
        text = "é" * 100_000
        stream.output.json(json.dumps(text, ensure_ascii=False))
        flushing = asyncio.create_task(stream.flush())
        received = b""
        while not flushing.done() or not received.endswith(b'"'):
            await asyncio.sleep(0)
            try:
                received += os.read(reading, 3_000)
            except BlockingIOError:
                continue
        assert json.loads(received) == text
        assert not stream.closed.is_set()
        os.close(reading)
        async with asyncio.timeout(PATIENCE_S):
            await stream.closed.wait()
        stream.output.line("more")
        with pytest.raises(BrokenPipeError):
            await stream.flush()
        stream.close()


async def test_a_file_takes_lines_as_well(tmp_path: Path) -> None:
    file = tmp_path / "events"
    with file.open("w", encoding="utf-8") as written:
        stream = LineStream(written)
        for number in range(3):
            stream.output.line(f"line {number}\x1b[31m")
            await stream.flush()
        stream.close()
    assert file.read_text(encoding="utf-8").splitlines() == [f"line {number}\ufffd[31m" for number in range(3)]


def event(kind: EventKind, **details: Any) -> AccountEvent:
    return AccountEvent(EventId(7, "5f0c2a9b", 1), kind, "1", ProductType.USDT_FUTURES, 1_790_000_000_000, details)


def test_no_text_of_an_exchange_is_obeyed_by_a_terminal() -> None:
    text = "".join(HOSTILE)
    fill = {"tradeId": text, "symbol": text, "side": text, "price": "1", "baseVolume": "1", "cTime": "1790000000000"}
    hostile = event(EventKind.FILL, **fill)
    stream = io.StringIO()
    output = Output(stream)
    output.line(event_line(hostile, event_sentence(hostile), UTC))
    output.json(dump_json(event_as_json(hostile, event_sentence(hostile))))
    line, received = stream.getvalue().split("\n", 1)
    assert all(scrub(character) == character for character in line + received)
    assert json.loads(received)["fill"] == fill


def test_each_kind_has_names_of_its_own() -> None:
    fill = event_as_json(event(EventKind.FILL, tradeId="9"), "bought")
    assert fill == {
        "id": "7-5f0c2a9b-1",
        "event": "fill",
        "time": "1790000000000",
        "sentence": "bought",
        "productType": "USDT-FUTURES",
        "fill": {"tradeId": "9"},
    }
    order = event_as_json(event(EventKind.ORDER, state="gone", filled="0", missed=True, order={"orderId": "1"}), "")
    assert (order["state"], order["missed"], order["order"]) == ("gone", True, {"orderId": "1"})
    outcome = event_as_json(event(EventKind.OUTCOME, intent="a", state="settled", title="reverse"), "")
    assert (outcome["intent"], outcome["state"], outcome["details"]) == ("a", "settled", {"title": "reverse"})
    line = event_line(event(EventKind.FILL), "bought", UTC)
    assert line == "2026-09-21 14:13:20  fill     bought  7-5f0c2a9b-1"
