"""Reads from the exchange: one call, repeated at most in another form, that gives rows or an error.

The interface document and the live exchange differ in some words of a read and in what is signed. The documented form
comes first. After a refusal the read is repeated once in the other form, and the form that worked is kept for the
session.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tradetui.exchange.calls.result import read_result
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    ExchangeError,
    RateLimited,
    Unreachable,
    UnreadableReply,
)
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.wire.endpoints.reply import Reply, of_product_type
from tradetui.wire.error_codes import CodeGroup, meaning, switches_off, wants_another_signature, wants_another_word
from tradetui.wire.product_types import ProductType
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.calls.signed_call import SignedCalls
    from tradetui.exchange.capabilities import Capabilities
    from tradetui.exchange.clock import ServerClock
    from tradetui.wire.endpoints.endpoint import Endpoint


class _Dialect:
    """The forms that this exchange was found to accept; shared by all calls of a client."""

    def __init__(self) -> None:
        self.signs_decoded = False
        #: Endpoint and parameter for which the live exchange's word worked.
        self.live_parameters: set[tuple[str, str]] = set()


class _RequestVariant:
    """One read in a certain wording and with a certain signature, each of which may be changed once."""

    def __init__(self, dialect: _Dialect, endpoint: Endpoint, request: Request[Any]) -> None:
        self._dialect = dialect
        self._documented = request
        self._reworded: Request[Any] | None
        parameter, self._reworded = request.reworded() or ("", None)
        self._parameter = (endpoint.name, parameter)
        self._says_live_word = self._parameter in dialect.live_parameters
        self.signs_decoded = dialect.signs_decoded
        self._word_changed = self._signature_changed = False

    def query(self) -> list[tuple[str, str]]:
        """Return names and values in the current form."""
        if self._says_live_word and self._reworded is not None:
            return self._reworded.query()
        return self._documented.query()

    def change_after(self, refusal: ExchangeError) -> bool:
        """Change the wording or the signature if that may cure the refusal; True if it was changed."""
        code = refusal.code or ""
        if isinstance(refusal, RateLimited):
            return False
        if isinstance(refusal, AuthenticationFailed):
            signs_differ = any(quote(value, safe="") != value for _, value in self.query())
            if wants_another_signature(code) and signs_differ and not self._signature_changed:
                self._signature_changed = True
                self.signs_decoded = not self.signs_decoded
                return True
        elif wants_another_word(code) and self._reworded is not None and not self._word_changed:
            self._word_changed = True
            self._says_live_word = not self._says_live_word
            return True
        return False

    def remember(self) -> None:
        """Keep the changed form, because it worked."""
        if self._signature_changed:
            self._dialect.signs_decoded = self.signs_decoded
        if self._word_changed and self._says_live_word:
            self._dialect.live_parameters.add(self._parameter)
        elif self._word_changed:
            self._dialect.live_parameters.discard(self._parameter)


_TRANSIENT = (Unreachable, Busy, UnreadableReply, RateLimited)


class Reads:
    """Every read of one account."""

    def __init__(
        self,
        calls: SignedCalls,
        *,
        capabilities: Capabilities,
        server_clock: ServerClock,
        random: Random,
    ) -> None:
        self._calls = calls
        self._capabilities = capabilities
        self._server_clock = server_clock
        self._random = random
        self._dialect = _Dialect()

    async def read(self, endpoint: Endpoint, request: Request[Any], priority: Priority) -> Reply[Any]:
        """Read one page; raises an `ExchangeError`. A passing error is retried once for a person, never for a feed."""
        self._capabilities.check(endpoint)
        variant = _RequestVariant(self._dialect, endpoint, request)
        retries_left = 1 if priority is Priority.INTERACTIVE else 0
        first_refusal: ExchangeError | None = None
        while True:
            answer = await self._calls.call(
                endpoint, priority, query=variant.query(), sign_decoded=variant.signs_decoded
            )
            result = read_result(endpoint, answer)
            if isinstance(result, Reply):
                variant.remember()
                self._calls.record_rows(endpoint)
                self._capabilities.answered(endpoint)
                product_type = getattr(request, "product_type", None)
                return result if product_type is None else of_product_type(result, ProductType.parse(product_type))
            if variant.change_after(result):
                first_refusal = first_refusal or result
                continue
            if retries_left and self._may_pass(result):
                retries_left -= 1
                await asyncio.sleep(self._random.uniform(0.1, 0.4))
                continue
            error = first_refusal or result  # the error of the documented form says more
            self._calls.record_failure(error, answer)
            # A refusal by a limit does not show whether the endpoint exists.
            if not isinstance(error, RateLimited) and switches_off(error.code or "", error.http_status):
                self._capabilities.switch_off(endpoint, error)
            raise error

    def _may_pass(self, error: ExchangeError) -> bool:
        if isinstance(error, AuthenticationFailed):
            # A refusal for the time stamp has told us the exchange's time, so a new stamp may pass.
            known = self._server_clock.offset_ms is not None
            return known and meaning(error.code or "").group is CodeGroup.CLOCK
        return isinstance(error, _TRANSIENT)
