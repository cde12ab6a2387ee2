"""Where document and live exchange differ in a read's words or in what is signed: the documented way first.

A refusal repeats the read once the other way; what worked is remembered for the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tradetui.exchange.errors import AuthenticationFailed, ExchangeError, RateLimited
from tradetui.wire.error_codes import wants_another_signature, wants_another_word
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint


class Dialect:
    """What this exchange was found to prefer; shared by all calls of a client."""

    def __init__(self) -> None:
        self.signs_decoded = False
        self._live_words: set[tuple[str, str]] = set()

    def prefers_live(self, endpoint: Endpoint, parameter: str) -> bool:
        """Whether the live exchange's words were what worked for this parameter."""
        return (endpoint.name, parameter) in self._live_words

    def remember(self, endpoint: Endpoint, parameter: str, *, live: bool) -> None:
        """Keep which words worked."""
        (self._live_words.add if live else self._live_words.discard)((endpoint.name, parameter))


class RequestVariant:
    """One read being said: its words and its signature, each of which may be changed once."""

    def __init__(self, dialect: Dialect, endpoint: Endpoint, request: Request[Any]) -> None:
        self._dialect = dialect
        self._endpoint = endpoint
        self._plain = request
        other = request.reworded()
        self._parameter: str = other[0] if other is not None else ""
        self._reworded: Request[Any] | None = other[1] if other is not None else None
        self.live = self._reworded is not None and dialect.prefers_live(endpoint, self._parameter)
        self.decoded = dialect.signs_decoded
        self._words_changed = self._signature_changed = False

    def query(self) -> list[tuple[str, str]]:
        """Names and values as they are to be sent now."""
        return (self._reworded if self.live and self._reworded is not None else self._plain).query()

    def change_after(self, refusal: ExchangeError) -> bool:
        """Whether the refusal is one that another word or signature may cure; if so it is changed."""
        code = refusal.code or ""
        if isinstance(refusal, RateLimited):
            return False
        if isinstance(refusal, AuthenticationFailed):
            needed = any(quote(value, safe="") != value for _, value in self.query())
            if wants_another_signature(code) and needed and not self._signature_changed:
                self._signature_changed = True
                self.decoded = not self.decoded
                return True
        elif wants_another_word(code) and self._reworded is not None and not self._words_changed:
            self._words_changed = True
            self.live = not self.live
            return True
        return False

    def worked(self) -> None:
        """Remember what was changed."""
        if self._signature_changed:
            self._dialect.signs_decoded = self.decoded
        if self._words_changed:
            self._dialect.remember(self._endpoint, self._parameter, live=self.live)
