"""Judges a response as rows, a refusal or unreadable; the body decides, whatever the HTTP status says.

A read without rows is an error to raise. A write is refused only if the exchange's own envelope says so. In every other
case in which its request may have arrived, its outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    ClassicAccount,
    EndpointMissing,
    ExchangeError,
    Hop,
    NotSent,
    OutcomeUnknown,
    PermissionRefused,
    RateLimited,
    Rejected,
    UnifiedAccount,
    Unreachable,
    UnreadableReply,
)
from tradetui.exchange.transport.transport import HttpResponse, TransportError, TransportErrorKind
from tradetui.wire.endpoints.endpoint import ADDRESS_LOCKOUT_S
from tradetui.wire.endpoints.reply import Envelope, Reply, UnreadableBody, read_data, read_envelope
from tradetui.wire.error_codes import (
    CLASSIC_ACCOUNT,
    TOO_MANY_CALLS_REMEDY,
    UNIFIED_ACCOUNT,
    UNIFIED_ACCOUNT_REMEDY,
    UNIFIED_TRADER,
    CodeGroup,
    endpoint_missing,
    meaning,
    write_refused,
)

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.endpoints.reply import UndecodableRow

TOO_MANY_REQUESTS = 429
"""The HTTP status of a call beyond a limit; its body may have any code."""
_BLOCKED = (403, 406, 451)
"""HTTP statuses of the page with which a web firewall, or a rule about countries, blocks an address."""
_IF_IT_LASTS = "If this lasts, check the network and the exchange's status page."
_REPORT = "If this lasts, the interface may have changed; keep the log."
_REMEDIES_OF_READS = {
    TransportErrorKind.CONNECT: "Check the network and base_url.",
    TransportErrorKind.NAME: "Check base_url and this machine's name service.",
    TransportErrorKind.PROXY: "Check the proxy and the setting proxy.",
    TransportErrorKind.TLS: "Check base_url, this machine's clock, and whether a proxy opens TLS connections.",
    TransportErrorKind.TIME_OUT: "Check the network.",
    TransportErrorKind.BROKEN: _IF_IT_LASTS,
    TransportErrorKind.POOL: "If this lasts, restart and keep the log.",
}
_REMEDIES_OF_UNSENT_WRITES = {
    TransportErrorKind.CONNECT: "Check the network and base_url, then try again.",
    TransportErrorKind.NAME: "Check base_url and this machine's name service, then try again.",
    TransportErrorKind.PROXY: "Check the proxy, or set another one or none, then try again.",
    TransportErrorKind.TLS: _REMEDIES_OF_READS[TransportErrorKind.TLS],
}
_ERRORS: Final[Mapping[CodeGroup, type[ExchangeError]]] = {
    CodeGroup.KEY: AuthenticationFailed,
    CodeGroup.CLOCK: AuthenticationFailed,
    CodeGroup.ENVIRONMENT: AuthenticationFailed,
    CodeGroup.PERMISSION: PermissionRefused,
    CodeGroup.ACCOUNT: PermissionRefused,
    CodeGroup.SYSTEM: Busy,
}
"""Every other group of codes is a rejection, except for the codes that `_error_of_code` names."""
_HOPS = {TransportErrorKind.PROXY: Hop.PROXY, TransportErrorKind.NAME: Hop.NAME, TransportErrorKind.TLS: Hop.TLS}
_LOOK_AT_THE_SYMBOL = "Look at positions, pending orders and fills before doing anything again."
_LOOK_AT_THE_SITE = "Look at the exchange's own site before doing anything again."


class CallResult(NamedTuple):
    """The result of one call: the response and its envelope, or why there is none; `stamp_ms` is the request's time."""

    stamp_ms: int
    http_response: HttpResponse | None = None
    envelope: Envelope | None = None
    unreadable: str = ""
    failure: TransportError | None = None

    @property
    def status(self) -> int | None:
        return self.http_response.status if self.http_response else None

    @property
    def limited(self) -> bool:
        """Whether the exchange reports too many calls, by HTTP status 429 or by a code."""
        if self.status == TOO_MANY_REQUESTS:
            return True
        return self.envelope is not None and meaning(self.envelope.code).group is CodeGroup.RATE


def parse_response(stamp_ms: int, http_response: HttpResponse, *, unique_names: bool = False) -> CallResult:
    """Read the envelope of a response; content that is declared as anything but JSON is not read.

    If `unique_names` is True, an object with a repeated name makes the response unreadable.
    """
    kind = http_response.headers.get("content-type", "")
    if kind and "json" not in kind.lower():
        what = "a web page" if "html" in kind.lower() else f"content of type {kind.partition(';')[0][:40]}"
        return CallResult(stamp_ms, http_response, unreadable=f"the reply is {what}, not JSON")
    try:
        return CallResult(stamp_ms, http_response, read_envelope(http_response.body, unique_names=unique_names))
    except UnreadableBody as problem:
        return CallResult(stamp_ms, http_response, unreadable=str(problem))


def retry_after(header: str | None, now_ms: int) -> float | None:
    """Return the seconds in a Retry-After header, which holds seconds or a date; None if it is not usable.

    The result is capped at the exchange's longest lock-out: a longer pause is a gateway's mistake and must not end a
    trader's day.
    """
    text = (header or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), ADDRESS_LOCKOUT_S)
    from email.utils import parsedate_to_datetime  # slow to import, and rarely needed

    try:
        seconds = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(0.0, seconds - now_ms / 1000), ADDRESS_LOCKOUT_S)


def read_result(endpoint: Endpoint, answer: CallResult) -> Reply[Any] | ExchangeError:
    """Return the rows of a read, or the error to raise."""
    if answer.failure is not None:
        return _unreached(endpoint, answer.failure)
    if answer.envelope is None:
        return _unreadable(endpoint, answer)
    if answer.limited:
        return _limited(endpoint, answer, answer.envelope.msg, answer.envelope.code)
    if not answer.envelope.ok:
        return _refusal(endpoint, answer.envelope, answer)
    try:
        return read_data(endpoint, answer.envelope)
    except UnreadableBody as problem:
        return UnreadableReply(str(problem), endpoint=endpoint.name, http_status=answer.status, remedy=_REPORT)


def write_result(endpoint: Endpoint, answer: CallResult) -> Reply[Any] | ExchangeError:
    """Return the result of a write, a readable refusal, `NotSent`, or in every other case `OutcomeUnknown`."""
    envelope = answer.envelope
    if answer.failure is not None and not answer.failure.sent:
        remedy = _REMEDIES_OF_UNSENT_WRITES.get(
            answer.failure.kind, "Try again; if this lasts, restart and keep the log."
        )
        return NotSent(str(answer.failure), endpoint=endpoint.name, remedy=remedy)
    if answer.failure is not None:
        return _unknown(endpoint, answer, str(answer.failure))
    if envelope is None:
        return _unknown(endpoint, answer, answer.unreadable)
    status = answer.status or 0
    if not envelope.ok:
        if write_refused(envelope.code, status, envelope.msg):
            return _refusal(endpoint, envelope, answer)
        return _unknown(endpoint, answer, envelope.msg or "its error does not say", envelope.code)
    if status >= 500 or status in (408, TOO_MANY_REQUESTS):
        return _unknown(endpoint, answer, f"success was answered with HTTP status {status}")
    try:
        reply = read_data(endpoint, envelope)
    except UnreadableBody as problem:
        return _unknown(endpoint, answer, f"accepted, but {problem}")
    if not reply.rows:
        return _unknown(
            endpoint, answer, "accepted, but the result cannot be read", undecodable_rows=reply.undecodable_rows
        )
    return reply


def _refusal(endpoint: Endpoint, envelope: Envelope, answer: CallResult) -> ExchangeError:
    """Make the error for a code that is not success, with the exchange's time."""
    refusal = _error_of_code(endpoint, envelope, answer)
    refusal.request_time = envelope.request_time
    return refusal


def _error_of_code(endpoint: Endpoint, envelope: Envelope, answer: CallResult) -> ExchangeError:
    known = meaning(envelope.code, envelope.msg)
    status = answer.status
    error_fields: dict[str, Any] = {
        "code": envelope.code,
        "endpoint": endpoint.name,
        "http_status": status,
        "remedy": known.remedy,
    }
    if endpoint_missing(envelope.code, status):
        if endpoint.core:
            error_fields["remedy"] = "Check base_url: every exchange with this interface has this endpoint."
        return EndpointMissing(envelope.msg, **error_fields)
    if envelope.code == UNIFIED_ACCOUNT:
        return UnifiedAccount(envelope.msg, **error_fields)
    if envelope.code in CLASSIC_ACCOUNT:
        return ClassicAccount(envelope.msg, **error_fields)
    if envelope.code == UNIFIED_TRADER and endpoint.interface == "v2" and not endpoint.writes:
        return UnifiedAccount(envelope.msg, **error_fields | {"remedy": UNIFIED_ACCOUNT_REMEDY})
    if known.group is CodeGroup.RATE:
        return _limited(endpoint, answer, envelope.msg, envelope.code)
    otherwise = Busy if status is not None and status >= 500 else Rejected
    return _ERRORS.get(known.group, otherwise)(envelope.msg, **error_fields)


def _limited(endpoint: Endpoint, answer: CallResult, message: str, code: str | None) -> RateLimited:
    headers = answer.http_response.headers if answer.http_response is not None else {}
    return RateLimited(
        message,
        retry_after=retry_after(headers.get("retry-after"), answer.stamp_ms),
        code=code,
        endpoint=endpoint.name,
        http_status=answer.status,
        remedy=TOO_MANY_CALLS_REMEDY,
    )


def _unreadable(endpoint: Endpoint, answer: CallResult) -> ExchangeError:
    """Make the error of a read whose body has no envelope, by the HTTP status alone."""
    status = answer.status or 0
    error_fields: dict[str, Any] = {"endpoint": endpoint.name, "http_status": status}
    if answer.limited:
        return _limited(endpoint, answer, answer.unreadable, None)
    if status >= 500:
        return Busy(f"HTTP status {status}, {answer.unreadable}", remedy=_IF_IT_LASTS, **error_fields)
    if status == 404:
        return EndpointMissing(answer.unreadable, remedy="Check base_url.", **error_fields)
    if 300 <= status < 400:
        return UnreadableReply(
            "it points to another address, and redirects are not followed", remedy="Check base_url.", **error_fields
        )
    if status in _BLOCKED:
        return UnreadableReply(
            f"a firewall in front of the exchange refuses this address (HTTP {status})",
            remedy="Wait some minutes. If it lasts, use another network address, or ask the exchange why.",
            **error_fields,
        )
    remedy = "Check base_url, and whether a proxy or a login page stands in between."
    detail = answer.unreadable if status == 200 else f"HTTP status {status}, {answer.unreadable}"
    return UnreadableReply(detail, remedy=remedy, **error_fields)


def _unreached(endpoint: Endpoint, failure: TransportError) -> ExchangeError:
    if failure.kind is TransportErrorKind.UNREADABLE:
        return UnreadableReply(str(failure), endpoint=endpoint.name, remedy=_REPORT)
    unreachable = Unreachable(str(failure), endpoint=endpoint.name, remedy=_REMEDIES_OF_READS[failure.kind])
    unreachable.hop = _HOPS.get(failure.kind, Hop.EXCHANGE)
    return unreachable


def _unknown(
    endpoint: Endpoint,
    answer: CallResult,
    message: str,
    code: str | None = None,
    undecodable_rows: tuple[UndecodableRow, ...] = (),
) -> OutcomeUnknown:
    return OutcomeUnknown(
        message,
        stamp_ms=answer.stamp_ms,
        code=code,
        endpoint=endpoint.name,
        http_status=answer.status,
        remedy=_LOOK_AT_THE_SYMBOL if endpoint.name == "futures.reverse" else _LOOK_AT_THE_SITE,
        undecodable_rows=undecodable_rows,
    )
