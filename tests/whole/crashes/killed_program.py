"""The program that is killed: one reversal confirmed, or what the journal holds taken up, by the program's own desk.

    LD_PRELOAD=killing.so python -m tests.whole.crashes.killed_program DESCRIPTOR

Each connection that the listening socket takes is served by a process of its own. That reads one errand (JSON) a line
and runs each in a further process; all are forked from this one, so that nothing has to be imported again. It answers
with a line of JSON: how the process ended, and what it told if it came that far.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

import anyio._backends._asyncio  # What each process would load is loaded once for all of them.
import anyio.streams.tls  # noqa: F401
import h11  # noqa: F401
import httpcore  # noqa: F401

import tradetui.commands.session.build_trading_session
import tradetui.desk.archive.database
import tradetui.exchange.transport.http  # noqa: F401
from tests.whole.crashes.kill_counter import SYMBOL, counted, kill_at, put_ahead, run_fast
from tests.whole.injections.safety_mutations import MUTATIONS
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.desk import Desk
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Target
from tradetui.exchange.errors import ExchangeError
from tradetui.profiles.load import Flags, load
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

LOOKED_AT_S = 1.5
Report = dict[str, Any]


def main() -> None:
    """Serve connections until this is ended."""
    gc.freeze()  # what was imported stays as it is, also in memory, which forked processes share
    listener = socket.socket(fileno=int(sys.argv[1]))
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            serve(connection)
            os._exit(0)
        connection.close()


def serve(connection: socket.socket) -> None:
    """Run errands until there are no more."""
    with connection.makefile("rw", encoding="utf-8") as lines:
        for line in lines:
            lines.write(json.dumps(run_apart(json.loads(line))) + "\n")
            lines.flush()


def run_apart(errand: Mapping[str, Any]) -> Report:
    """Run one errand in a forked process; `killed` says that it was, `told` what it wrote before its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _errand(errand, writing)
    os.close(writing)
    with os.fdopen(reading) as stream:
        output = stream.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    if not killed and os.WEXITSTATUS(status):
        raise SystemExit(f"errand {errand['do']} failed")
    return {"killed": killed, "told": json.loads(output) if output else None}


def _errand(errand: Mapping[str, Any], writing: int) -> None:
    try:
        os.environ.update(errand["environment"])
        put_ahead(errand["ahead_ms"])
        if "pace" in errand:
            run_fast(errand["pace"], errand["since_ms"])
        if errand.get("mutation"):
            MUTATIONS[errand["mutation"]](setattr)
        report = asyncio.run(_ERRANDS[errand["do"]](errand))
        os.write(writing, json.dumps(report).encode())
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(3)


PATIENCE_S = 60.0
"""How long the journal may take to open on a busy machine."""


async def reverse(errand: Mapping[str, Any]) -> Report:
    """Preview, confirm, follow for as long as a person would look; killed somewhere from the confirmation on."""
    desk, execution = _open()
    desk.start(())
    target = _target(errand)
    preview = await execution.preview(target)
    end = asyncio.get_running_loop().time() + PATIENCE_S
    while blocked := [reason for reason in execution.blocking_reasons(preview, preview.subject) if "journal" in reason]:
        assert asyncio.get_running_loop().time() < end, blocked
        await asyncio.sleep(0.005)
    report: Report = {"refused": None, "end": None}
    kill_at(errand["kill"], errand["how"])
    try:
        sent = await execution.confirm(preview, preview.subject)
        with suppress(TimeoutError):
            # In bad weather nothing may come of it for 35 s: a person would leave the dialog.
            async with asyncio.timeout(None if errand["weather"] == "none" else LOOKED_AT_S):
                async for progress in execution.follow(sent):
                    report["end"] = None if progress.outcome is None else str(progress.outcome)
    except (NotConfirmed, ExchangeError) as problem:
        report["refused"] = str(problem)
    report["count"] = counted()
    await desk.stop()
    return report


async def take_up(errand: Mapping[str, Any]) -> Report:
    """Start anew, see every intent to its end (or see that it has none), and tell what the journal says."""
    desk, execution = _open()
    kill_at(errand["kill"], errand["how"])
    desk.start(())
    preview = await execution.preview(_target(errand))
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_S
    blocked_while_open, opened = True, False
    while loop.time() < end and not (opened and not execution.intents.unsettled()) and execution.intents.loss is None:
        reasons = execution.blocking_reasons(preview, preview.subject)
        if not opened and not any("journal" in reason for reason in reasons):
            opened, end = True, loop.time() + errand["patience_s"]
        if execution.intents.unsettled() and not any("not settled" in reason for reason in reasons):
            blocked_while_open = False
        await asyncio.sleep(0.005)
    count = counted()
    if execution.intents.loss is not None:
        await desk.stop()
        return {"lost": execution.intents.loss.reason, "count": count}
    assert opened, "the journal was never opened"
    intents = await execution.intents.newest()
    if errand.get("release") and execution.intents.unsettled():
        await execution.release(intents[0].id, "looked on the exchange's own page")
        intents = await execution.intents.newest()
    report: Report = {
        "count": count,
        "blocked_while_open": blocked_while_open,
        "unsettled": list(execution.intents.unsettled()),
        "intents": [
            {
                "id": intent.id,
                "state": str(intent.state),
                "events": [{"state": str(event.state), "at": event.at_ms, **event.details} for event in intent.events],
            }
            for intent in intents
        ],
    }
    await desk.stop()
    return report


def _open() -> tuple[Desk, Execution]:
    desk = OpenProfile(load(os.environ, Flags())).desk()
    assert desk.execution is not None
    return desk, desk.execution


def _target(errand: Mapping[str, Any]) -> Target:
    one_way = errand["mode"] == "one-way"
    size = Decimal(errand["size"]) if errand.get("size") else None
    return Target(SYMBOL, ProductType.USDT_FUTURES, None if one_way else Side.BUY, size)


_ERRANDS = {"reverse": reverse, "take up": take_up}

if __name__ == "__main__":
    main()
