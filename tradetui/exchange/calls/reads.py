"""Reading: one call, said another way or repeated once where that helps, as rows or an error."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from tradetui.exchange.calls.request_variants import Dialect, RequestVariant
from tradetui.exchange.calls.response import read_result
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    ExchangeError,
    RateLimited,
    UnifiedAccount,
    Unreachable,
    UnreadableReply,
)
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.wire.endpoints.reply import Reply, of_product_type
from tradetui.wire.error_codes import CodeGroup, meaning, switches_off
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.exchange.calls.signed_call import SignedCalls
    from tradetui.exchange.capabilities import Capabilities
    from tradetui.exchange.clock import ServerClock
    from tradetui.exchange.connection_status import ConnectionStatus
    from tradetui.exchange.credentials import Credentials
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.requests.request import Request

_TRANSIENT = (Unreachable, Busy, UnreadableReply, RateLimited)
_LONGEST_MESSAGE = 400


class Reads:
    """Every read of one account."""

    def __init__(
        self,
        calls: SignedCalls,
        *,
        credentials: Credentials | None,
        capabilities: Capabilities,
        server_clock: ServerClock,
        connection_status: ConnectionStatus,
        random: Random,
    ) -> None:
        self._calls = calls
        self._credentials = credentials
        self._capabilities = capabilities
        self._server_clock = server_clock
        self._connection_status = connection_status
        self._random = random
        self._dialect = Dialect()

    async def read(self, endpoint: Endpoint, request: Request[Any], priority: Priority) -> Reply[Any]:
        """Read one page; raises an `ExchangeError`. For a person what may pass is tried once more, for a feed never."""
        self._capabilities.check(endpoint)
        variant = RequestVariant(self._dialect, endpoint, request)
        again = 1 if priority is Priority.INTERACTIVE else 0
        first: ExchangeError | None = None
        while True:
            answer = await self._calls.call(endpoint, priority, query=variant.query(), sign_decoded=variant.decoded)
            result = read_result(endpoint, answer)
            if isinstance(result, Reply):
                variant.worked()
                self._capabilities.answered(endpoint)
                product_type = getattr(request, "product_type", None)
                return result if product_type is None else of_product_type(result, ProductType.parse(product_type))
            if variant.change_after(result):
                first = first or result
                continue
            if again and self._may_pass(result):
                again -= 1
                await asyncio.sleep(self._random.uniform(0.1, 0.4))
                continue
            error = first or result
            tidy(error, self._credentials)
            self._connection_status.failed(error, answered=answer.http_response is not None)
            if isinstance(error, UnifiedAccount):
                self._capabilities.refuse_account(error)
            elif _says_missing(error):
                self._capabilities.switch_off(endpoint, error)
            raise error

    def _may_pass(self, error: ExchangeError) -> bool:
        if isinstance(error, AuthenticationFailed):
            # Refused for its time stamp, but the refusal told the exchange's time.
            known = self._server_clock.offset_ms is not None
            return known and meaning(error.code or "").group is CodeGroup.CLOCK
        return isinstance(error, _TRANSIENT)


def _says_missing(error: ExchangeError) -> bool:
    """Whether the endpoint is missing or not permitted; what a limit refuses says nothing of that."""
    if isinstance(error, RateLimited):
        return False
    return switches_off(error.code, error.http_status) if error.code else error.http_status == 404


def tidy(error: ExchangeError, credentials: Credentials | None) -> None:
    """Make the exchange's words fit to repeat: no secret of ours in them, and not endless."""
    message = error.message
    if credentials is not None:
        message = credentials.masked(message)
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 1] + "…"
    error.message = message
    error.args = (message,)
