"""Replies: the envelope every answer comes in, and its rows read by the catalogue's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar

from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.product_types import USDT_COINS, ProductType, may_hold, may_move, may_trade
from tradetui.wire.replies.record import Record, UndecodableRowError, masked, read_rows
from tradetui.wire.text.json_text import RepeatedName, load_json

SUCCESS: Final = "00000"

# The longest page, 500 bills, is a fifth of a megabyte; what is this long is no answer to any of these requests.
LONGEST_BODY: Final = 8 * 1024 * 1024
_LATEST_MS: Final = 4_102_444_800_000
"""No time of a reply after the year 2100 is believed."""
_NAMES_OF_CONTRACT: Final = ("symbol", "coin", "margin_coin")
"""A row's symbol, the coin it moved, and the coin its margin is in."""

R = TypeVar("R", bound=Record)
R_co = TypeVar("R_co", bound=Record, covariant=True)


class UnreadableBody(Exception):
    """A body that is not a reply of the exchange; the message says what it is instead."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Code, message and time of a reply, with its payload still unread."""

    code: str
    msg: str
    request_time: int | None
    data: Any = field(repr=False, default=None)

    @property
    def ok(self) -> bool:
        """Whether the exchange says success; 00000 is the only such code."""
        return self.code == SUCCESS


@dataclass(frozen=True, slots=True)
class UndecodableRow:
    """A row that could not be read: its place, what it lacks, and itself as received."""

    index: int
    reason: str
    received: object = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply(Generic[R_co]):
    """The rows of one reply, newest first as the exchange sends them."""

    rows: tuple[R_co, ...]
    end_id: str | None = None
    undecodable_rows: tuple[UndecodableRow, ...] = ()
    request_time: int | None = None
    #: What goes into idLessThan to read the next, older page; None when there is none to be read.
    cursor: str | None = None
    #: Of each row left out because it can only be of another product type than was asked for, its symbol or coin.
    left_out: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Rows received, undecodable ones and those of other product types included."""
        return len(self.rows) + len(self.undecodable_rows) + len(self.left_out)

    @property
    def unreadable(self) -> int:
        """Optional fields that could not be read, over all rows."""
        return sum(len(row.unreadable) for row in self.rows)


def read_envelope(body: bytes, *, unique_names: bool = False) -> Envelope:
    """The envelope of a body, whatever its code; raises UnreadableBody, also for a name that must be there once."""
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
        raise UnreadableBody(_what_it_is(body)) from None
    if not isinstance(value, Mapping):
        raise UnreadableBody("the reply is not an object")
    code = value.get("code")
    if isinstance(code, bool) or not isinstance(code, (str, int)) or code == "":
        raise UnreadableBody("the reply carries no code")
    msg = value.get("msg")
    if msg is None or msg == "":
        msg = value.get("message")
    return Envelope(
        str(code), msg if isinstance(msg, str) else "", _milliseconds(value.get("requestTime")), value.get("data")
    )


def read_data(endpoint: Endpoint, envelope: Envelope) -> Reply[Any]:
    """The rows of an envelope's payload; raises UnreadableBody when it has not the endpoint's shape."""
    raw, end_id = _rows_of(endpoint, envelope.data)
    cursor = _cursor(endpoint, raw, end_id)
    raw = endpoint.row.with_distinct_ids(raw)
    if set(map(type, raw)) <= {dict} and all(map(endpoint.row.may_be, raw)):
        read = read_rows(endpoint.row, raw)
        if read is not None:
            return Reply(tuple(read), end_id, (), envelope.request_time, cursor)
    rows: list[Record] = []
    undecodable_rows: list[UndecodableRow] = []
    for index, row in enumerate(raw):
        if not isinstance(row, Mapping):
            undecodable_rows.append(UndecodableRow(index, "not an object", row))
            continue
        if not endpoint.row.may_be(row):
            reason = f"not a {endpoint.row.__name__}"
            undecodable_rows.append(UndecodableRow(index, reason, masked(endpoint.row, row)))
            continue
        try:
            rows.append(endpoint.row.from_row(row))
        except UndecodableRowError as error:
            undecodable_rows.append(UndecodableRow(index, str(error), masked(endpoint.row, row)))
    return Reply(tuple(rows), end_id, tuple(undecodable_rows), envelope.request_time, cursor)


def of_product_type(reply: Reply[R], product_type: ProductType) -> Reply[R]:
    """The reply without rows that can only be of another product type: an exchange may give every one the same rows.

    Rows do not carry their product type; the symbol tells it, or the coin that was moved where a row has no symbol.
    """
    contracts = list(zip(*(_column(reply.rows, name) for name in _NAMES_OF_CONTRACT), strict=True))
    others = {contract for contract in set(contracts) if not _may_be_of(product_type, *contract)}
    if not others:
        return reply
    # This exchange does so: where nothing but the coin tells, the row is of the product type that is settled in it.
    others |= {row for row in contracts if row[0] is None and row[1] is not None and not may_hold(product_type, row[1])}
    rows = tuple(row for row, contract in zip(reply.rows, contracts, strict=True) if contract not in others)
    left_out = tuple(contract[0] or contract[1] or "" for contract in contracts if contract in others)
    return replace(reply, rows=rows, left_out=left_out)


def _column(rows: Sequence[Record], name: str) -> Sequence[str | None]:
    """A field of each row; None everywhere where rows of this kind do not have it."""
    # The kind is asked once: to look for a field that is not there takes a microsecond in every row.
    if not rows or name not in type(rows[0]).model_fields:
        return [None] * len(rows)
    return [getattr(row, name) for row in rows]


def _may_be_of(product_type: ProductType, symbol: str | None, moved_coin: str | None, margin_coin: str | None) -> bool:
    if symbol is not None:
        # Margin in USDT is certain, however a contract is named: a position must not be left out for its name.
        has_usdt = margin_coin is not None and margin_coin.upper() in USDT_COINS
        return may_trade(product_type, symbol) or (has_usdt and product_type.settlement_coin == "USDT")
    return moved_coin is None or may_move(product_type, moved_coin)


def _rows_of(endpoint: Endpoint, data: Any) -> tuple[list[Any], str | None]:
    """The raw rows of a payload, a null list being empty, and its endId.

    A payload that is null as a whole is a history without rows. What is held or pending may not look like nothing
    because it was left out.
    """
    if data is None or data == "":
        if endpoint.area == "futures" and endpoint.steers and not endpoint.writes:
            raise UnreadableBody(f"the payload of {endpoint.name} is empty")
        return [], None
    if isinstance(data, list):
        return data, None
    if not isinstance(data, Mapping):
        raise UnreadableBody(f"the payload of {endpoint.name} is neither object nor list")
    if endpoint.rows_key is None:
        return [data], None
    end_id = data.get("endId")
    rows = data.get(endpoint.rows_key)
    if rows is None or rows == "":
        # Rows under a name nobody expects must not look like none.
        if endpoint.rows_key not in data and data.keys() - {"endId"}:
            raise UnreadableBody(f"the payload of {endpoint.name} has no {endpoint.rows_key}")
        rows = []
    if not isinstance(rows, list):
        raise UnreadableBody(f"{endpoint.rows_key} of {endpoint.name} is not a list")
    return rows, _text(end_id)


def _cursor(endpoint: Endpoint, raw: list[Any], end_id: str | None) -> str | None:
    rule = endpoint.page
    if rule is None or not raw:
        return None
    if rule.cursor_field == "endId" and end_id is not None:
        return end_id
    name = rule.row_field if rule.cursor_field == "endId" else rule.cursor_field
    last = _oldest(raw, name)
    return (_text(last.get(name)) if isinstance(last, Mapping) else None) or end_id


def _oldest(raw: list[Any], id_name: str) -> Any:
    """The row below which a page goes on: its last, or the oldest where its rows do not come newest first."""
    times = [_milliseconds(row.get("cTime", row.get("ts"))) if isinstance(row, Mapping) else None for row in raw]
    known = [time for time in times if time is not None]
    if len(known) < len(raw) or all(newer >= older for newer, older in pairwise(known)):
        return raw[-1]
    oldest_ms = min(known)
    oldest = [row for row, time in zip(raw, known, strict=True) if time == oldest_ms]
    named = [row for row in oldest if _text(row.get(id_name))]
    return min(named, key=lambda row: id_sort_key(str(row[id_name])), default=raw[-1])


def id_sort_key(row_id: str) -> tuple[int, str]:
    """Ids by length, then text: numbers in order without taking them for numbers."""
    return len(row_id), row_id


def _text(value: Any) -> str | None:
    if value is None or value == "" or isinstance(value, (bool, list, Mapping)):
        return None
    return str(value)


def _milliseconds(value: Any) -> int | None:
    """A reply's time; None where it is none, of whatever size the number is."""
    if isinstance(value, str) and len(value) <= 20 and value.strip().isascii() and value.strip().isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _LATEST_MS else None


def _what_it_is(body: bytes) -> str:
    start = body.lstrip()[:1]
    if not start:
        return "the reply is empty"
    if start == b"<":
        return "the reply is a web page, not JSON"
    return "the reply is cut off or not JSON"
