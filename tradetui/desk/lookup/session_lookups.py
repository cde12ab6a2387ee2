"""The lookups of a session, and which of them this account may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.polling.feed import FeedError
from tradetui.desk.tables.table import LOOKUPS, TableName
from tradetui.exchange.capabilities import PROBE_AGAIN_S
from tradetui.exchange.errors import EndpointMissing, PermissionRefused, UnifiedAccount
from tradetui.exchange.rate_limit.budget import Priority

if TYPE_CHECKING:
    from tradetui.desk.account.identity import AccountIdentity
    from tradetui.desk.lookup.lookup import Lookup
    from tradetui.desk.lookup.query import Query
    from tradetui.exchange.client import ExchangeReader
    from tradetui.wire.endpoints.endpoint import Endpoint

SPOT_AUTHORITIES: Final = ("stor", "stow")
"""Any one of these lets a key read spot fills, if the exchange reports a key's authorities (spot/account/info)."""


class Lookups:
    """Keeps the lookup of each table while its screen is closed, and remembers refusals for ten minutes."""

    def __init__(
        self, client: ExchangeReader, account: Callable[[], AccountIdentity | None], account_kind: str | None
    ) -> None:
        self._client = client.with_priority(Priority.INTERACTIVE)
        self._account = account
        self._account_kind = account_kind
        self._begun: dict[str, Lookup] = {}
        self._refusals: dict[str, tuple[float, FeedError]] = {}

    @property
    def now_ms(self) -> int:
        return self._client.server_clock.now_ms

    def begun(self, table: str) -> Lookup | None:
        return self._begun.get(table)

    def begin(self, table: str, query: Query) -> Lookup:
        """Begin a lookup in place of the one before; it reads nothing yet."""
        from tradetui.desk.lookup.lookup import Lookup

        if (before := self._begun.get(table)) is not None:
            before.stop()
        endpoint = query.endpoint
        lookup = Lookup(self._client, query, lambda problem: self._heard(endpoint, problem))
        self._begun[table] = lookup
        return lookup

    def blocking_reason(self, table: str) -> str | None:
        """Return why this account cannot use a lookup, as far as known; None if it may."""
        endpoint = LOOKUPS[table].endpoint
        until, refusal = self._refusals.get(endpoint.name, (0.0, None))
        if refusal is not None and self._client.clock.monotonic() < until:
            return refusal.sentence
        if endpoint.area == "broker" and self._account_kind in ("ordinary", "copy_trader"):
            return "only for a broker's main account; the profile's account_kind says this is none"
        account = self._account()
        info = account.info if account is not None else None
        if table == TableName.SPOT_FILLS and info is not None and info.lacks_all(*SPOT_AUTHORITIES):
            return "the key may not read spot orders; grant the permission on the exchange's site"
        return None

    async def stop(self) -> None:
        for lookup in self._begun.values():
            await lookup.close()

    def _heard(self, endpoint: Endpoint, problem: Exception | None) -> None:
        if problem is None:
            self._refusals.pop(endpoint.name, None)
        elif isinstance(problem, PermissionRefused | EndpointMissing | UnifiedAccount):
            self._refusals[endpoint.name] = (self._client.clock.monotonic() + PROBE_AGAIN_S, FeedError.of(problem))
