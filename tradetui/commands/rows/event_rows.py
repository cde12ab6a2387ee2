"""An event of the account as one line: JSON for scripts, a sentence for a person."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Any

from tradetui.desk.events.event import AccountEvent, EventKind

_KIND_WIDTH = max(map(len, EventKind))
_OF_ORDER = ("state", "filled", "missed", "order")
_OF_ALERT = ("rules", "channels")
_OF_OUTCOME = ("intent", "state")


def event_as_json(event: AccountEvent, sentence: str) -> dict[str, Any]:
    """The event under the names that `watch --help` lists; records as the exchange sent them, the time in Unix ms."""
    row: dict[str, Any] = {
        "id": str(event.id),
        "event": str(event.kind),
        "time": str(event.time_ms),
        "sentence": sentence,
    }
    if event.product_type is not None:
        row["productType"] = str(event.product_type)
    details = event.details
    match event.kind:
        case EventKind.FILL | EventKind.TRIGGER:
            row[event.kind] = details
        case EventKind.ORDER:
            row |= {name: details[name] for name in _OF_ORDER}
        case EventKind.ALERT:
            row |= {name: details[name] for name in _OF_ALERT}
        case EventKind.OUTCOME:
            row |= {name: details[name] for name in _OF_OUTCOME}
            row["details"] = {name: value for name, value in details.items() if name not in _OF_OUTCOME}
    return row


def event_line(event: AccountEvent, sentence: str, zone: tzinfo) -> str:
    """Time, kind, what happened, and the id from which to go on."""
    moment = datetime.fromtimestamp(event.time_ms / 1000, UTC).astimezone(zone)
    return f"{moment:%Y-%m-%d %H:%M:%S}  {event.kind:<{_KIND_WIDTH}}  {sentence}  {event.id}"
