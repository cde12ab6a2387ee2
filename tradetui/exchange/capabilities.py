"""Which endpoints this account may call, as far as the exchange has said."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

PROBE_AGAIN_S = 600.0
ACCOUNT_PROBE_S = 60.0


class Capabilities:
    """Leaves an optional endpoint that is missing or not permitted alone for ten minutes.

    If the exchange refuses the whole account (`account_refusal`), one read a minute checks whether it still does.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.account_refusal: ExchangeError | None = None
        self._account_probe_at = 0.0
        self._off: dict[str, tuple[float, ExchangeError]] = {}

    def refusal(self, name: str) -> ExchangeError | None:
        """Return why an endpoint is off for now; None if it answered, was never tried, or is due for a probe."""
        until, reason = self._off.get(name, (0.0, None))
        return reason if reason is not None and self._clock.monotonic() < until else None

    def check(self, endpoint: Endpoint) -> None:
        """Raise the error with which the exchange refused the endpoint, without asking again."""
        if (reason := self.refusal(endpoint.name)) is not None:
            raise copy(reason)

    def check_account(self, *, may_probe: bool = False) -> None:
        """Raise the error of a refused account; with `may_probe` not for the one read a minute that asks again."""
        if self.account_refusal is None:
            return
        if may_probe and (now := self._clock.monotonic()) >= self._account_probe_at:
            self._account_probe_at = now + ACCOUNT_PROBE_S
            return
        raise copy(self.account_refusal)

    def refuse_account(self, reason: ExchangeError) -> None:
        """Send no more signed calls, except for one probe a minute."""
        self.account_refusal = reason
        self._account_probe_at = self._clock.monotonic() + ACCOUNT_PROBE_S

    def switch_off(self, endpoint: Endpoint, reason: ExchangeError) -> None:
        """Leave an optional endpoint alone until the next probe; the thirteen core endpoints are never switched off."""
        if not endpoint.core:
            self._off[endpoint.name] = (self._clock.monotonic() + PROBE_AGAIN_S, reason)

    def answered(self, endpoint: Endpoint) -> None:
        self._off.pop(endpoint.name, None)
        if endpoint.signed:
            self.account_refusal = None
