"""Parses replies of the exchange: the envelope of every reply, and the rows by the rules of their endpoint.

An unreadable row is returned beside the readable ones. A payload of another shape than its endpoint's is an error, so
that it never looks like an account that holds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar

from tradetui.wire.endpoints.endpoint import Endpoint, RowLaw
from tradetui.wire.json_text import RepeatedName, load_json
from tradetui.wire.product_types import USDT_COINS, ProductType, may_hold, may_move, may_trade
from tradetui.wire.replies.record import Record, UndecodableRowError, masked, read_rows

LONGEST_BODY: Final = 8 * 1024 * 1024
"""In bytes. The longest page, 500 bills, is a fifth of a megabyte; a longer body answers none of these requests."""
_LATEST_MS: Final = 4_102_444_800_000
"""A time in a reply after the year 2100 is ignored."""
_TELLING_FIELDS: Final = ("symbol", "coin", "margin_coin")
"""The fields that show a row's product type: its symbol, the coin it moved, and its margin coin."""

R = TypeVar("R", bound=Record)
R_co = TypeVar("R_co", bound=Record, covariant=True)


class UnreadableBody(Exception):
    """The body is not a reply of the exchange; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Code, message and time of a reply, with its payload not yet parsed."""

    code: str
    msg: str
    request_time: int | None
    data: Any = field(repr=False, default=None)

    @property
    def ok(self) -> bool:
        """Whether the exchange reports success, for which it has one code."""
        return self.code == "00000"


@dataclass(frozen=True, slots=True)
class UndecodableRow:
    """A row that could not be read: its index, the reason, and the row as received."""

    index: int
    reason: str
    received: object = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply(Generic[R_co]):
    """The rows of one reply, newest first as the exchange sends them."""

    rows: tuple[R_co, ...]
    undecodable_rows: tuple[UndecodableRow, ...] = ()
    request_time: int | None = None
    cursor: str | None = None
    """What the next, older page is asked by, as idLessThan or cursor; None if there is none."""
    page_cursor: str | None = None
    """What this page is asked by again, where it is no id."""
    left_out: tuple[str, ...] = ()
    """The symbols or coins of rows left out, because they can only be of another product type."""

    @property
    def count(self) -> int:
        """The number of rows received, including unreadable ones and those left out."""
        return len(self.rows) + len(self.undecodable_rows) + len(self.left_out)

    @property
    def unreadable(self) -> int:
        """The number of optional fields that could not be read, in all `rows`."""
        return sum(len(row.unreadable) for row in self.rows)


def read_envelope(body: bytes, *, unique_names: bool = False) -> Envelope:
    """Parse the envelope of a body with any code; raises UnreadableBody, also for a repeated name if `unique_names`."""
    if len(body) > LONGEST_BODY:
        raise UnreadableBody(f"the reply is {len(body)} bytes long")
    try:
        value = load_json(body.decode("utf-8-sig"), unique_names=unique_names)
    except UnicodeDecodeError:
        raise UnreadableBody("the reply is not UTF-8 text") from None
    except RecursionError:
        raise UnreadableBody("the reply is nested too deeply") from None
    except RepeatedName:
        raise UnreadableBody("the reply has a name twice in one object") from None
    except ValueError:
        raise UnreadableBody(_why_not_json(body)) from None
    if not isinstance(value, Mapping):
        raise UnreadableBody("the reply is not an object")
    code = value.get("code")
    if isinstance(code, bool) or not isinstance(code, (str, int)) or code == "":
        raise UnreadableBody("the reply carries no code")
    msg = value.get("msg")
    if msg is None or msg == "":
        msg = value.get("message")
    if not isinstance(msg, str):
        msg = ""
    return Envelope(str(code), msg, request_time=_milliseconds(value.get("requestTime")), data=value.get("data"))


def read_data(endpoint: Endpoint, envelope: Envelope) -> Reply[Any]:
    """Parse the rows of an envelope's payload; raises UnreadableBody if it does not have the endpoint's shape."""
    raw, end_id = _raw_rows(endpoint, envelope.data)
    return reply_of(endpoint.row, raw, envelope.request_time, _cursor(endpoint, raw, end_id))


def reply_of(kind: type[R], raw: list[Any], request_time: int | None, cursor: str | None) -> Reply[R]:
    """Parse raw rows of a kind, with the rest of their reply."""
    raw = kind.with_distinct_ids(raw)
    rows, undecodable_rows = _read_at_once(kind, raw) or _read_one_by_one(kind, raw)
    return Reply(rows, undecodable_rows, request_time, cursor)


def of_product_type(reply: Reply[R], product_type: ProductType) -> Reply[R]:
    """Leave out rows that can only be of another product type: an exchange may return the same rows for each.

    Rows lack their product type. The symbol shows it, or the coin that was moved if a row has no symbol.
    """
    telling = list(zip(*(_column(reply.rows, name) for name in _TELLING_FIELDS), strict=True))
    foreign = {values for values in set(telling) if not _may_be_of(product_type, *values)}
    if not foreign:
        return reply
    # This exchange returns rows of other types: a row with only a coin then belongs to the type settled in that coin.
    for symbol, moved_coin, margin_coin in set(telling):
        if symbol is None and moved_coin is not None and not may_hold(product_type, moved_coin):
            foreign.add((symbol, moved_coin, margin_coin))
    rows = tuple(row for row, values in zip(reply.rows, telling, strict=True) if values not in foreign)
    left_out = tuple(values[0] or values[1] or "" for values in telling if values in foreign)
    return replace(reply, rows=rows, left_out=left_out)


def _column(rows: Sequence[Record], name: str) -> Sequence[str | None]:
    """Return a field of each row; None for all if rows of this kind lack it."""
    # The kind is checked once: reading a missing field takes a microsecond in every row.
    if not rows or name not in type(rows[0]).model_fields:
        return [None] * len(rows)
    return [getattr(row, name) for row in rows]


def _may_be_of(product_type: ProductType, symbol: str | None, moved_coin: str | None, margin_coin: str | None) -> bool:
    if symbol is not None:
        # Margin in USDT is certain, whatever the contract's name: no position may be left out because of its name.
        has_usdt = margin_coin is not None and margin_coin.upper() in USDT_COINS
        return may_trade(product_type, symbol) or (has_usdt and product_type.settlement_coin == "USDT")
    return moved_coin is None or may_move(product_type, moved_coin)


def _read_at_once(kind: type[R], raw: list[Any]) -> tuple[tuple[R, ...], tuple[()]] | None:
    """Parse all rows in one pydantic call, which suits nearly every page; None if a row has to be parsed alone."""
    if not set(map(type, raw)) <= {dict} or not all(map(kind.may_be, raw)):
        return None
    rows = read_rows(kind, raw)
    return None if rows is None else (tuple(rows), ())


def _read_one_by_one(kind: type[R], raw: list[Any]) -> tuple[tuple[R, ...], tuple[UndecodableRow, ...]]:
    """Parse each row alone, at least twice as slow: return the readable rows, and the others with their reasons."""
    rows: list[R] = []
    undecodable_rows: list[UndecodableRow] = []
    for index, row in enumerate(raw):
        if not isinstance(row, Mapping):
            undecodable_rows.append(UndecodableRow(index, "not an object", row))
        elif not kind.may_be(row):
            undecodable_rows.append(UndecodableRow(index, f"not a {kind.__name__}", masked(kind, row)))
        else:
            try:
                rows.append(kind.from_row(row))
            except UndecodableRowError as error:
                undecodable_rows.append(UndecodableRow(index, str(error), masked(kind, row)))
    return tuple(rows), tuple(undecodable_rows)


def _raw_rows(endpoint: Endpoint, data: Any) -> tuple[list[Any], str | None]:
    """Return the raw rows of a payload, a null list as an empty one, and its endId.

    A payload that is null is a history without rows. For positions and pending orders it is an error, so that a missing
    payload does not look like an empty account. Interface v3 has null for a list without rows, also where the payload
    itself is the list.
    """
    if data is None or data == "":
        is_list = endpoint.interface == "v3" and endpoint.law is RowLaw.WHOLE and endpoint.page is None
        shows_what_is_held = endpoint.area in ("futures", "unified") and endpoint.decides_what_is_sent and not is_list
        if shows_what_is_held and not endpoint.writes:
            raise UnreadableBody(f"the payload of {endpoint.name} is empty")
        return [], None
    if isinstance(data, list):
        return data, None
    if not isinstance(data, Mapping):
        raise UnreadableBody(f"the payload of {endpoint.name} is neither object nor list")
    if endpoint.rows_key is None:
        return [data], None
    rows = data.get(endpoint.rows_key)
    if rows is None or rows == "":
        # Rows under an unexpected name must not look like no rows.
        if endpoint.rows_key not in data and data.keys() - {"endId", "cursor"}:
            raise UnreadableBody(f"the payload of {endpoint.name} has no {endpoint.rows_key}")
        rows = []
    if not isinstance(rows, list):
        raise UnreadableBody(f"{endpoint.rows_key} of {endpoint.name} is not a list")
    is_cursor = endpoint.page is not None and endpoint.page.parameter == "cursor"
    return rows, _text(data.get("cursor" if is_cursor else "endId"))


def _cursor(endpoint: Endpoint, raw: list[Any], end_id: str | None) -> str | None:
    """Return the id or cursor of the next page, by the endpoint's page rule; None if nothing is older."""
    rule = endpoint.page
    if rule is None or not raw:
        return None
    if rule.parameter == "cursor" or (rule.cursor_field == "endId" and end_id is not None):
        return end_id
    name = rule.row_field if rule.cursor_field == "endId" else rule.cursor_field
    last = _oldest(raw, name)
    return (_text(last.get(name)) if isinstance(last, Mapping) else None) or end_id


def _oldest(raw: list[Any], id_name: str) -> Any:
    """Return the row below which the next page begins: the last, or the oldest if rows do not come newest first."""
    times = [_milliseconds(row.get("cTime", row.get("ts"))) if isinstance(row, Mapping) else None for row in raw]
    known = [time for time in times if time is not None]
    if len(known) < len(raw) or all(newer >= older for newer, older in pairwise(known)):
        return raw[-1]
    oldest_ms = min(known)
    oldest = [row for row, time in zip(raw, known, strict=True) if time == oldest_ms]
    named = [row for row in oldest if _text(row.get(id_name))]
    return min(named, key=lambda row: id_sort_key(str(row[id_name])), default=raw[-1])


def id_sort_key(row_id: str) -> tuple[int, str]:
    """Sort ids by length, then text: in numeric order without conversion."""
    return len(row_id), row_id


def _text(value: Any) -> str | None:
    if value is None or value == "" or isinstance(value, (bool, list, Mapping)):
        return None
    return str(value)


def _milliseconds(value: Any) -> int | None:
    """Parse a reply's time; None if it is not valid, however large the number is."""
    if isinstance(value, str) and len(value) <= 20 and value.strip().isascii() and value.strip().isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _LATEST_MS else None


def _why_not_json(body: bytes) -> str:
    start = body.lstrip()[:1]
    if not start:
        return "the reply is empty"
    if start == b"<":
        return "the reply is a web page, not JSON"
    return "the reply is cut off or not JSON"
