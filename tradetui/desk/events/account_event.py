"""An event of the account, and the id from which reading goes on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tradetui.wire.product_types import ProductType

_EVENT_ID: Final = re.compile(r"(?P<number>\d{1,18})-(?P<log>[0-9a-f]{8})-(?P<time>\d{1,15})")


class EventKind(StrEnum):
    """What an event is about."""

    FILL = "fill"
    ORDER = "order"
    TRIGGER = "trigger"
    ALERT = "alert"
    OUTCOME = "outcome"


class OrderState(StrEnum):
    """What became of a pending order. `gone` waits no more and is not filled whole: cancelled, expired or refused."""

    NEW = "new"
    CHANGED = "changed"
    FILLED = "filled"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class EventId:
    """The number of an event in its log, the log's name, and the event's time (Unix ms).

    The time is where reading goes on if the log is not there any more.
    """

    number: int
    log: str
    time_ms: int

    def __str__(self) -> str:
        return f"{self.number}-{self.log}-{self.time_ms}"

    @classmethod
    def parse(cls, text: str) -> EventId | None:
        """The id that a text is; None where it is none."""
        match = _EVENT_ID.fullmatch(text.strip())
        return None if match is None else cls(int(match["number"]), match["log"], int(match["time"]))


@dataclass(frozen=True, slots=True)
class AccountEvent:
    """One event: when it took place (Unix ms), and what is known of it.

    `details` of a fill and of a trigger are the record as received; of an order its `state` and what `missed` says,
    the size `filled` and the `order` as received; of an alert its sentence, rules and channels; of an outcome the
    intent and the step of the journal. `subject_id` is the id of the fill, order or trigger. `product_type` is None for
    what belongs to the account as a whole.
    """

    id: EventId
    kind: EventKind
    subject_id: str
    product_type: ProductType | None
    time_ms: int
    details: Mapping[str, Any]
