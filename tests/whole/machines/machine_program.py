"""One session on one machine, without a screen: it reverses when it is told to, and says what came of it.

    python -m tests.whole.machines.machine_program

It reads an errand (JSON) a line: `reverse`, `lock`, `accept`, `release` or `stop`. It writes a report (JSON) a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from decimal import Decimal
from typing import Any

from tests.whole.crashes.kill_counter import SYMBOL
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.states import Withheld, WrongStep
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.preview import Target
from tradetui.exchange.errors import ExchangeError
from tradetui.profiles.load import Flags, load
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

LOOKED_AT_S = 0.6
LOOKS_AT_STATE_S = 0.25


def report(what: str, **more: Any) -> None:
    sys.stdout.write(json.dumps({"report": what, **more}) + "\n")
    sys.stdout.flush()


async def reverse(execution: Execution, errand: dict[str, Any]) -> None:
    """Preview, look, confirm, follow to the end; whatever keeps it from being sent is reported."""
    side = Side.BUY if errand["leg"] == "long" else Side.SELL
    try:
        preview = await execution.preview(Target(SYMBOL, ProductType.USDT_FUTURES, side, Decimal(errand["size"])))
        await asyncio.sleep(LOOKED_AT_S)
        report("confirms")
        sent = await execution.confirm(preview, preview.subject)
    except Withheld as withheld:
        report("withheld", reasons=withheld.reasons)
        return
    except ExchangeError as problem:
        report("withheld", reasons=[str(problem)])
        return
    report("sent", intent=sent.intent)
    async for progress in execution.follow(sent):
        last = progress
    report("ended", intent=sent.intent, state=str(last.state), outcome=str(last.outcome))


async def release(execution: Execution) -> None:
    """Release what the program allows to be released."""
    try:
        for intent in await execution.intents.not_settled():
            if execution.reason_against_release(intent) is None:
                await execution.release(intent.id, "looked at the exchange")
                report("released", intent=intent.id)
    except (Withheld, WrongStep) as problem:
        report("not released", reasons=[str(problem)])


async def watch(execution: Execution) -> None:
    """Report what the header would show, whenever it changes."""
    shown: object = None
    while True:
        intents = execution.intents
        now = {
            "trouble": intents.trouble or intents.store_trouble,
            "locked": intents.locked,
            "unsettled": list(intents.unsettled()),
        }
        if now != shown:
            report("shows", **now)
            shown = now
        await asyncio.sleep(LOOKS_AT_STATE_S)


async def main() -> None:
    """Open the profile and run errands until the last."""
    desk = OpenProfile(load(os.environ, Flags())).desk()
    assert desk.execution is not None
    desk.start(())
    loop, errands = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()

    def read_errands() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(errands.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(errands.put_nowait, {"do": "stop"})

    threading.Thread(target=read_errands, daemon=True).start()
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch(desk.execution))
        under_way: set[asyncio.Task[None]] = set()
        while (errand := await errands.get())["do"] != "stop":
            match errand["do"]:
                case "reverse":
                    under_way.add(tasks.create_task(reverse(desk.execution, errand)))
                case "release":
                    under_way.add(tasks.create_task(release(desk.execution)))
                case "lock":
                    await desk.execution.intents.set_lock(errand["locked"])
                case "accept":
                    report("accepted", is_done=await desk.execution.intents.accept_older_store())
        await asyncio.gather(*under_way)
        watching.cancel()
    await desk.stop()
    report("stopped")


if __name__ == "__main__":
    asyncio.run(main())
