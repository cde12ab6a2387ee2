"""The whole program on an exchange that answers with hostile text in every field of words, refusals included.

Run by the tests as a program: python -m tests.ui.hostile_exchange
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from itertools import cycle
from typing import Any

from tests.ui.hostile import HOSTILE
from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk
from tradetui.desk.desk import Desk
from tradetui.sandbox.app import Sandbox
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings
from tradetui.ui.tty.run_app import run_app

Message = MutableMapping[str, Any]
KEPT = {"side", "holdSide", "posMode", "tradeSide", "planStatus", "status", "marginCoin", "code"}
"""Words the program acts on: with these spoilt there would be less on the screen, not more."""
REFUSED = "/api/v2/mix/order/orders-pending"


class HostileExchange:
    """The embedded exchange with every other word replaced; one endpoint refuses everything."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.exchange_state = sandbox.exchange_state
        self.options = sandbox.options
        self._sandbox = sandbox
        self._texts = cycle(HOSTILE)

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        begun: Message = {}
        body = bytearray()

        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                spoilt = self._spoilt(scope["path"], bytes(body))
                headers = [pair for pair in begun["headers"] if pair[0].lower() != b"content-length"]
                await send({**begun, "headers": [*headers, (b"content-length", str(len(spoilt)).encode())]})
                await send({"type": "http.response.body", "body": spoilt})

        await self._sandbox(scope, receive, kept)

    def _spoilt(self, path: str, body: bytes) -> bytes:
        reply = json.loads(body)
        if path == REFUSED:
            reply = {**reply, "code": "40009", "data": None, "msg": "".join(HOSTILE)}
        else:
            reply["data"] = self._hostile("", reply["data"])
        return json.dumps(reply).encode()

    def _hostile(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._hostile(name, item) for item in value]
        if isinstance(value, dict):
            return {field: self._hostile(field, part) for field, part in value.items()}
        if not isinstance(value, str) or name in KEPT or value[:1].lstrip("-").isdigit() or not value.strip("-"):
            return value
        return f"{value[:3]}{next(self._texts)}"


def open_desk() -> Desk:
    """A desk on the hostile exchange."""
    exchange: Any = HostileExchange(build_sandbox(7))
    return open_demo_desk(exchange, "hedge", read_only=False)


if __name__ == "__main__":
    name = "".join(HOSTILE)
    sys.exit(run_app(TradeApp(UiSettings("SANDBOX", "TRADE", [ProfileChoice(name, open_desk)] * 2))))
