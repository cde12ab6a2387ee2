"""Endpoints with made-up limits."""

from __future__ import annotations

from typing import Literal

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint, RateLimit


def limited(
    per_second: int = 10,
    copy_trader: int | None = None,
    name: str = "futures.fills",
    scope: Literal["uid", "ip"] = "uid",
) -> Endpoint:
    return CATALOGUE["futures.fills"]._replace(name=name, limit=RateLimit(per_second, copy_trader, scope))
