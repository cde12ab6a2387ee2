"""Reads fields that hold objects or lists, also as JSON text, into tuples of records or of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.replies.record import Normalizer, Record, UndecodableRowError


def records_of(kind: type[Record]) -> Normalizer:
    """A normalizer that reads an object, a list of objects, or either as JSON text, into a tuple of records."""

    def read(value: Any, name: str, problems: dict[str, str]) -> tuple[Record, ...]:
        records: list[Record] = []
        parsed = _parsed(value)
        entries = parsed if isinstance(parsed, list) else [parsed]
        for index, entry in enumerate(entries):
            where = f"{name}[{index}]" if isinstance(parsed, list) else name
            if isinstance(entry, Mapping):
                try:
                    record = kind.from_row(entry)
                except UndecodableRowError:
                    problems[where] = dump_json(entry)
                else:
                    records.append(record)
                    problems.update((f"{where}.{field}", text) for field, text in record.unreadable.items())
            elif entry is not None:
                problems[where] = entry if isinstance(entry, str) else dump_json(entry)
        return tuple(records)

    return read


def texts_of(value: Any, name: str, problems: dict[str, str]) -> tuple[str, ...]:
    """The words of a list, of an object (the names whose value is not a no), or of text separated by commas."""
    parsed = _parsed(value)
    if isinstance(parsed, Mapping):
        return tuple(str(word) for word, answer in parsed.items() if not _is_no(answer))
    if isinstance(parsed, str):
        return tuple(word for part in parsed.split(",") if (word := part.strip()))
    if not isinstance(parsed, list):
        problems[name] = dump_json(parsed)
        return ()
    texts: list[str] = []
    for index, entry in enumerate(parsed):
        if isinstance(entry, (Mapping, list, bool)):
            problems[f"{name}[{index}]"] = dump_json(entry)
        elif entry is not None and entry != "":
            texts.append(str(entry))
    return tuple(texts)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return load_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_no(value: Any) -> bool:
    return not value or (isinstance(value, str) and value.strip().lower() in ("no", "false", "0"))
