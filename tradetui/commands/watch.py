"""`tradetui watch`: a line per event of the account, for a reader that may be slow, stop and resume.

It only reads, runs for days, and reports each event once: a reader resumes after the id of its last line.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import select
import signal
import stat
import sys
from collections.abc import Collection
from dataclasses import replace
from datetime import tzinfo
from typing import Any, Final, TextIO

from tradetui.commands.process.console import DONE, REFUSED, Output, say
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.desk.desk import Desk
from tradetui.desk.event_stream import AccountEvents, NoLog, NotAllowed
from tradetui.desk.events.event_log import AccountEvent, EventId, EventKind, event_sentence
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import milliseconds, utc_moment

_AT_ONCE: Final = getattr(select, "PIPE_BUF", 512)
"""Number of bytes that a writable pipe takes without blocking."""
_KIND_WIDTH = max(map(len, EventKind))
_NAMED_DETAILS = {
    EventKind.ORDER: ("state", "filled", "missed", "order"),
    EventKind.ALERT: ("rules", "channels"),
    EventKind.OUTCOME: ("intent", "state"),
}
"""The details with a field of their own in the row; for other kinds all details are one field."""


def run(args: argparse.Namespace) -> int:
    """Print events until SIGINT, SIGTERM or the end of the reader; none of these is an error."""
    profile = open_privately(os.environ, replace(Flags.of(args), read_only=True))
    since = None if args.since is None else _resume_point(args.since, profile.settings_without_key.zone)
    kinds = frozenset(map(EventKind, args.kinds)) or frozenset(EventKind)
    return asyncio.run(_watch(profile, kinds, since, as_json=args.json))


def _resume_point(text: str, zone: tzinfo) -> EventId | int:
    event_id = EventId.parse(text)
    if event_id is not None:
        return event_id
    try:
        return milliseconds(text, SystemClock().wall_ms(), "--since", zone)
    except InvalidRequest:
        raise InvalidRequest(
            "--since",
            "must be the id of an event, or a time",
            text,
            "Give the id of the last line that you have, or a time such as yesterday, 1h, or 2026-11-20T15:30.",
        ) from None


async def _watch(
    profile: OpenProfile, kinds: Collection[EventKind], since: EventId | int | None, *, as_json: bool
) -> int:
    desk = profile.desk()
    if EventKind.ALERT not in kinds:
        desk.alerts.use_rules(())  # without their rows these alerts cannot fire
    events = AccountEvents(desk, kinds, since, lambda sentence: say(f"tradetui: {sentence}"))
    stream, stop = LineStream(sys.stdout), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    printing = asyncio.create_task(_print_events(desk, events, stream, as_json=as_json))
    ends = [asyncio.create_task(stop.wait()), asyncio.create_task(stream.closed.wait())]
    try:
        await asyncio.wait({printing, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if printing.done():
            await printing
    except NoLog as problem:
        raise ConfigurationError(
            f"events cannot be saved, so that --since could not go on from one later: {problem}",
            location=str(profile.loaded.data_dir),
            remedy="Name a directory that you may write to as data_dir or --data-dir.",
        ) from None
    except NotAllowed as problem:
        say(f"tradetui: {problem}")
        return REFUSED
    finally:
        for task in (printing, *ends):
            task.cancel()
        await asyncio.gather(printing, *ends, return_exceptions=True)
        stream.close()
        await desk.stop()
    return DONE


async def _print_events(desk: Desk, events: AccountEvents, stream: LineStream, *, as_json: bool) -> None:
    async for event in events.follow():
        sentence = event_sentence(event, desk.market.precision_of)
        if as_json:
            stream.output.json_line(event_as_json(event, sentence))
        else:
            stream.output.line(event_line(event, sentence, desk.settings.zone))
        await stream.flush()


def event_as_json(event: AccountEvent, sentence: str) -> dict[str, Any]:
    """Return the event with the names of `watch --help`; records as the exchange sent them, the time in Unix ms."""
    identity = {"id": str(event.id), "event": str(event.kind), "time": str(event.time_ms)}
    row: dict[str, Any] = {**identity, "sentence": sentence}
    if event.product_type is not None:
        row["productType"] = str(event.product_type)
    names, details = _NAMED_DETAILS.get(event.kind, ()), event.details
    row |= {name: details[name] for name in names}
    if event.kind is EventKind.OUTCOME:
        row["details"] = {name: value for name, value in details.items() if name not in names}
    elif not names:
        row[event.kind] = details
    return row


def event_line(event: AccountEvent, sentence: str, zone: tzinfo) -> str:
    """Format time, kind, sentence, and the id to resume from."""
    moment = utc_moment(event.time_ms).astimezone(zone)
    return f"{moment:%Y-%m-%d %H:%M:%S}  {event.kind:<{_KIND_WIDTH}}  {sentence}  {event.id}"


class LineStream:
    """Writes lines as they come; `closed` is set when the reader of a pipe has gone."""

    def __init__(self, stream: TextIO) -> None:
        """Take over a stream of the running loop, and flush it first."""
        stream.flush()
        self.closed = asyncio.Event()
        self._descriptor = stream.fileno()
        self._bytes = io.BytesIO()
        # Text gets the stream's encoding, but is written to the descriptor, because the stream would block.
        text = io.TextIOWrapper(self._bytes, stream.encoding, "backslashreplace", newline="\n", write_through=True)
        self.output = Output(text)
        self._loop = asyncio.get_running_loop()
        self._is_pipe = stat.S_ISFIFO(os.fstat(self._descriptor).st_mode)
        if self._is_pipe:
            # The writing end of a pipe is never readable; this wakes only on the error that the reader has gone.
            self._loop.add_reader(self._descriptor, self._reader_gone)

    async def flush(self) -> None:
        """Flush the lines; raises OSError, for example BrokenPipeError."""
        rest = memoryview(self._bytes.getvalue())
        while rest:
            await self._writable()
            rest = rest[os.write(self._descriptor, rest[:_AT_ONCE]) :]
        self._bytes.seek(0)
        self._bytes.truncate()

    def close(self) -> None:
        if self._is_pipe:
            self._loop.remove_reader(self._descriptor)

    async def _writable(self) -> None:
        ready = asyncio.Event()
        try:
            self._loop.add_writer(self._descriptor, ready.set)
        except PermissionError:
            return  # a file, which is always writable
        try:
            await ready.wait()
        finally:
            self._loop.remove_writer(self._descriptor)

    def _reader_gone(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._is_pipe = False
        self.closed.set()
