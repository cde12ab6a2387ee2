"""Which endpoints beyond the interface the exchange offers, as far as it has told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError

if TYPE_CHECKING:
    from tradetui.wire.catalogue import Endpoint

PROBE_AGAIN_S = 600.0


class Capabilities:
    """An endpoint beyond the interface that is missing or not permitted is left alone for ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._off: dict[str, tuple[float, ExchangeError]] = {}

    def offers(self, name: str) -> bool:
        """Whether calling it makes sense: it answered, was never tried, or is due for a probe."""
        return self.refusal(name) is None

    def refusal(self, name: str) -> ExchangeError | None:
        """Why an endpoint is off for now, or `None`."""
        until, reason = self._off.get(name, (0.0, None))
        return reason if reason is not None and self._clock.monotonic() < until else None

    def check(self, endpoint: Endpoint) -> None:
        """Raise what the exchange said when the endpoint was switched off, without asking again."""
        if (reason := self.refusal(endpoint.name)) is not None:
            again = type(reason)(
                reason.message,
                code=reason.code,
                endpoint=reason.endpoint,
                http_status=reason.http_status,
                remedy=reason.remedy,
            )
            raise again

    def switch_off(self, endpoint: Endpoint, reason: ExchangeError) -> None:
        """Leave an endpoint beyond the interface alone until the next probe; the thirteen are never switched off."""
        if not endpoint.core:
            self._off[endpoint.name] = (self._clock.monotonic() + PROBE_AGAIN_S, reason)

    def answered(self, endpoint: Endpoint) -> None:
        """It works."""
        self._off.pop(endpoint.name, None)
