"""Delivers a session's alerts by desktop and command, each once for the account.

The log of events in the account's archive has each alert. The session that delivers an alert claims it there by the
alert's number. Work on the archive blocks briefly and belongs on the disk thread. Times are compared by the monotonic
clock of one boot; claims of another boot have expired.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, TypeVarTuple

from tradetui.desk.events.rules import Alert, AlertSettings, Channel, one_sentence
from tradetui.desk.publisher import Publisher
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

LIMIT_S: Final = 9.0
"""Longest run of a program; it ends before another session may take its alert for undelivered."""
_KEPT_BYTES: Final = 4_096
_CHUNK_BYTES: Final = 65_536
_LAST_CHUNKS: Final = 16
_SHOWN_CHARACTERS: Final = 120


class CommandFailed(Exception):
    """The program could not be run, or failed; the message is a short reason."""


class ProgramCommand:
    """A program of this machine, started without a shell in its own process group."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], *, limit_s: float = LIMIT_S) -> None:
        """Prepare the program; `environment` is its whole environment, so it must hold no credentials."""
        self._arguments = tuple(arguments)
        self._environment = dict(environment)
        self._limit_s = limit_s

    async def run(self, json_text: str) -> None:
        """Run the program with this text on its standard input; raises CommandFailed."""
        # Own pipes: with asyncio's, the program's end would wait for every process it left running.
        with _pipe() as (stdin, json_end), _pipe() as (stderr_end, stderr):
            os.set_blocking(json_end.fileno(), False)
            os.write(json_end.fileno(), json_text.encode("utf-8"))
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._arguments,
                    stdin=stdin,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=stderr,
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as problem:
                raise CommandFailed(f"{one_sentence(self._arguments[0])} cannot be run ({problem.strerror})") from None
            json_end.close()
            stderr.close()
            tail = _Tail(stderr_end.fileno())
            try:
                async with asyncio.timeout(self._limit_s):
                    code = await process.wait()
            except TimeoutError:
                raise CommandFailed(f"ended after {self._limit_s:g} s, the most it may take") from None
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)  # with all processes that it started
                    await process.wait()
                text = tail.close()
        if code != 0:
            last_line = one_sentence(text.strip().rpartition("\n")[2])[:_SHOWN_CHARACTERS]
            raise CommandFailed(f"ended with code {code}{f': {last_line}' if last_line else ''}")


@contextmanager
def _pipe() -> Iterator[tuple[FileIO, FileIO]]:
    """Yield the reading and the writing end of a pipe; both are closed with the block at the latest."""
    reading_end, writing_end = os.pipe()
    with FileIO(reading_end, "r") as reading, FileIO(writing_end, "w") as writing:
        yield reading, writing


class _Tail:
    """The last bytes from a pipe, which is read continuously."""

    def __init__(self, reading_end: int) -> None:
        os.set_blocking(reading_end, False)
        self._reading_end = reading_end
        self._bytes = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(reading_end, self._read)

    def _read(self) -> bool:
        """Read the available bytes; False if there are no more now."""
        try:
            chunk = os.read(self._reading_end, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(self._reading_end)
            return False
        self._bytes = (self._bytes + chunk)[-_KEPT_BYTES:]
        return True

    def close(self) -> str:
        """Read the rest, at most the capacity of a pipe, and stop reading; return the last bytes as text."""
        for _ in range(_LAST_CHUNKS):
            if not self._read():
                break
        self._loop.remove_reader(self._reading_end)
        return self._bytes.decode("utf-8", "replace")


CLAIMABLE_AGAIN_S: Final = 10.0
"""A claimed channel without a result after this time may be claimed again; a command has ended by then."""
SAME_S: Final = 45.0
"""An event that recurs under its key within this time is the same event, seen by another session."""
LOG_SHOWN: Final = 1_000
"""Maximum number of alerts shown from the log."""
_BEGINNING: Final = ""
"""Marker row instead of an intent: from here on the table records which outcomes were shown."""


class DeliveryClaim(NamedTuple):
    """Whether this session may deliver by a channel, or it is done, or in how many seconds it may be claimed again."""

    mine: bool = False
    done: bool = False
    free_in_s: float = 0.0


class LoggedAlert(NamedTuple):
    """An alert of the log: its time (Unix ms), sentence, rules, and delivery results."""

    number: int
    at_ms: int
    sentence: str
    rules: str
    delivery: str

    @property
    def row_id(self) -> str:
        return str(self.number)


class AlertLog:
    """The log of an account, for one session named `owner`, which writes alerts and claims deliveries."""

    def __init__(self, archive: Archive, owner: str) -> None:
        self._archive = archive
        self._owner = owner

    def typed(self, now: Moment) -> None:
        """Record that a person typed in this session, and delete the sessions of other boots."""
        with self._archive.transaction() as connection:
            connection.execute(
                "INSERT INTO alert_session VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE SET boot = excluded.boot,"
                " typed = excluded.typed",
                (self._owner, now.boot, now.monotonic_s),
            )
            connection.execute("DELETE FROM alert_session WHERE boot <> ?", (now.boot,))

    def leave(self) -> None:
        """End this session's priority as the one last typed in."""
        with self._archive.transaction() as connection:
            connection.execute("DELETE FROM alert_session WHERE owner = ?", (self._owner,))

    def note(self, alert: Alert, now: Moment) -> tuple[int, bool]:
        """Write an alert unless another session has; return its number, and whether this session was last typed in."""
        with self._archive.transaction() as connection:
            number = self._number_of(connection, alert, now) or self._enter(connection, alert, now)
            last = connection.execute(
                "SELECT owner FROM alert_session WHERE boot = ? ORDER BY typed DESC, owner LIMIT 1", (now.boot,)
            ).fetchone()
            return number, last is None or last[0] == self._owner

    @staticmethod
    def _number_of(connection: sqlite3.Connection, alert: Alert, now: Moment) -> int | None:
        row: tuple[int, str] | None = connection.execute(
            "SELECT number, body FROM account_event WHERE kind = 'alert' AND id = ? ORDER BY number DESC LIMIT 1",
            (alert.event.key,),
        ).fetchone()
        if row is None:
            return None
        noted = json.loads(row[1])
        same = noted["boot"] == now.boot and abs(now.monotonic_s - noted["monotonic"]) < SAME_S
        return row[0] if same or not alert.event.recurs else None

    @staticmethod
    def _enter(connection: sqlite3.Connection, alert: Alert, now: Moment) -> int:
        """Write an alert into the log of events and return its number."""
        key = alert.event.key
        channels = sorted(map(str, alert.channels)) or ["silenced"] * bool(alert.silenced)
        details = {"sentence": alert.sentence, "rules": alert.rules, "channels": channels}
        cursor = connection.execute(
            "INSERT INTO account_event (kind, product_type, id, time, body) VALUES ('alert', '', ?, ?, ?)",
            (key, alert.at_ms, json.dumps({**details, "boot": now.boot, "monotonic": now.monotonic_s})),
        )
        if key.startswith("reversal|"):
            _, intent, stage, *_ = key.split("|")
            _note_ends(connection, [intent], shown=stage == SearchStage.ENDED)
        return cursor.lastrowid or 0

    def claim(self, number: int, channel: Channel, now: Moment) -> DeliveryClaim:
        """Claim the delivery of an alert by a channel for this session, if it is free."""
        with self._archive.transaction() as connection:
            row = connection.execute(
                "SELECT boot, monotonic, result FROM alert_claim WHERE alert = ? AND channel = ?", (number, channel)
            ).fetchone()
            if row is not None:
                boot, claimed_s, result = row
                if result is not None:
                    return DeliveryClaim(done=True)
                age_s = now.monotonic_s - claimed_s
                if boot == now.boot and 0 <= age_s < CLAIMABLE_AGAIN_S:
                    return DeliveryClaim(free_in_s=CLAIMABLE_AGAIN_S - age_s)
            connection.execute(
                "INSERT OR REPLACE INTO alert_claim VALUES (?, ?, ?, ?, ?, NULL)",
                (number, channel, self._owner, now.boot, now.monotonic_s),
            )
            return DeliveryClaim(mine=True)

    def finish(self, number: int, channel: Channel, result: str) -> None:
        """Record the result of a claimed channel, so that no session tries it again."""
        with self._archive.transaction() as connection:
            connection.execute(
                "UPDATE alert_claim SET result = ? WHERE alert = ? AND channel = ?", (result, number, channel)
            )

    def end_shown(self, intent: str) -> None:
        """Record that the outcome of a reversal was shown without an alert."""
        with self._archive.transaction() as connection:
            _note_ends(connection, [intent], shown=True)

    def unannounced_outcomes(self, settled: frozenset[str]) -> frozenset[str]:
        """Return the settled reversals, by intent, whose outcome was neither shown nor alerted.

        A reversal settled before the first record here counts as shown, unless an alert said that it was open.
        """
        with self._archive.transaction() as connection:
            shown = dict(connection.execute("SELECT intent, shown FROM reversal_end"))
            if _BEGINNING not in shown:
                _note_ends(connection, [_BEGINNING, *(settled - shown.keys())], shown=True)
                settled &= shown.keys()
        return frozenset(intent for intent in settled if not shown.get(intent))

    def newest(self) -> Sequence[LoggedAlert]:
        """Return the last alerts, newest first."""
        rows = self._archive.connection.execute(
            "SELECT number, time, body, (SELECT json_group_object(channel, result) FROM alert_claim"
            " WHERE alert = number AND result IS NOT NULL)"
            " FROM account_event WHERE kind = 'alert' ORDER BY number DESC LIMIT ?",
            (LOG_SHOWN,),
        )
        alerts = ((number, at_ms, json.loads(body), json.loads(results)) for number, at_ms, body, results in rows)
        return [
            LoggedAlert(
                number, at_ms, alert["sentence"], ", ".join(alert["rules"]), _delivery(alert["channels"], results)
            )
            for number, at_ms, alert, results in alerts
        ]


def _note_ends(connection: sqlite3.Connection, intents: Iterable[str], *, shown: bool) -> None:
    """Record whether the outcome of reversals was shown; an alert that one is open, or open again, is no outcome."""
    rows = [(intent, shown) for intent in intents]
    connection.executemany("INSERT OR REPLACE INTO reversal_end VALUES (?, ?)", rows)


_ORDER: Final[Mapping[str, int]] = {channel: index for index, channel in enumerate(Channel)}


def _delivery(channels: Iterable[str], results: Mapping[str, str]) -> str:
    """Format every channel in the order of `Channel` with its result if known, or that the alert was silenced.

    A session with other rules than the writer's may have delivered it by further channels.
    """
    chosen = sorted({*channels, *results}, key=lambda channel: _ORDER.get(channel, 0))
    delivered = [f"{channel}: {results[channel]}" if channel in results else channel for channel in chosen]
    return ("; " if results else ", ").join(delivered)


_log = logging.getLogger(__name__)

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

OTHERS_WAIT_S: Final = 2.0
"""How long a session leaves desktop and command to the one that was last typed in."""
TYPED_EVERY_S: Final = 2.0
"""Minimum interval between records of typing."""
LIMIT_NOTICE_EVERY_S: Final = 60.0
"""Minimum interval between messages that the command would run too often; the log has every case."""
_IN_MEMORY: Final = 200


class FrequencyLimit:
    """Allows a number of actions per interval."""

    def __init__(self, allowed: int, every_s: float, clock: Clock) -> None:
        self._allowed = allowed
        self._every_s = every_s
        self._clock = clock
        self._taken_s: deque[float] = deque()

    def take(self) -> bool:
        """Count one more action if allowed; False if not."""
        now_s = self._clock.monotonic()
        while self._taken_s and now_s - self._taken_s[0] >= self._every_s:
            self._taken_s.popleft()
        if len(self._taken_s) >= self._allowed:
            return False
        self._taken_s.append(now_s)
        return True


class AlertDelivery(Publisher[str]):
    """Delivers a session's alerts outside its screen, and publishes a sentence about each failure.

    `desktop` shows a sentence outside the program, if the terminal supports that; `account` is the account's name, once
    known.
    """

    def __init__(self, settings: AlertSettings, clock: Clock, disk: Disk, owner: str) -> None:
        super().__init__()
        self.desktop: Callable[[str], None] | None = None
        self.account = ""
        self._settings = settings
        self._clock = clock
        self._disk = disk
        self._owner = owner
        self._commands = FrequencyLimit(settings.commands_a_minute, 60.0, clock)
        self._limit_notices = FrequencyLimit(1, LIMIT_NOTICE_EVERY_S, clock)
        self._typing = FrequencyLimit(1, TYPED_EVERY_S, clock)
        self._alert_log: AlertLog | None = None
        self._memory: deque[LoggedAlert] = deque(maxlen=_IN_MEMORY)
        self._tasks = BackgroundTasks()

    def attach(self, archive: Archive) -> None:
        """Share desktop and command with the other sessions of the account from now on."""
        self._alert_log = AlertLog(archive, self._owner)

    async def come_first(self) -> None:
        """Deliver before the account's other sessions, as if a person had typed here; raises sqlite3.Error."""
        if self._alert_log is not None:
            await self._disk.run(self._alert_log.typed, Moment.now(self._clock))

    async def stop(self) -> None:
        """Deliver the alerts already begun while others wait; the rest is left to them."""
        try:
            await self._tasks.finish(OTHERS_WAIT_S + 1)
        finally:
            await self._tasks.stop()
        alert_log, self._alert_log = self._alert_log, None
        if alert_log is not None:
            await self._try("the archive does not take that a session ends", alert_log.leave)

    def typed(self) -> None:
        """Record that a person typed in this session, which delivers first from now on."""
        if self._alert_log is not None and self._typing.take():
            trouble = "the archive does not take that this session is used"
            self._tasks.begin(self._try(trouble, self._alert_log.typed, Moment.now(self._clock)))

    async def newest(self) -> Sequence[LoggedAlert]:
        """Return the alerts of the account, newest first; those of this session while its archive is not open."""
        log = self._alert_log
        alerts = None if log is None else await self._try("the log of alerts cannot be read", log.newest)
        return tuple(self._memory) if alerts is None else alerts

    async def unannounced_outcomes(self, settled: frozenset[str]) -> frozenset[str]:
        """Return the settled reversals, by intent, whose outcome no session has shown; raises sqlite3.Error."""
        if self._alert_log is None:
            return frozenset()
        return await self._disk.run(self._alert_log.unannounced_outcomes, settled)

    def end_shown(self, intent: str) -> None:
        """Record for all sessions that the outcome of a reversal was shown without an alert."""
        if self._alert_log is not None:
            self._tasks.begin(self._disk.run(self._alert_log.end_shown, intent))

    def begin(self, alert: Alert, sounding: Callable[[], Awaitable[frozenset[Channel]]]) -> None:
        """Write an alert into the log, then deliver this session's part through the channels that sound by then."""
        delivery = ", ".join(sorted(alert.channels)) or "silenced"
        number = self._memory[0].number + 1 if self._memory else 1
        self._memory.appendleft(LoggedAlert(number, alert.at_ms, alert.sentence, ", ".join(alert.rules), delivery))
        self._tasks.begin(self._share(alert, sounding))

    async def _share(self, alert: Alert, sounding: Callable[[], Awaitable[frozenset[Channel]]]) -> None:
        logged: tuple[int, bool] | None = None
        if self._alert_log is not None:
            trouble, now = "an alert is delivered without the other sessions", Moment.now(self._clock)
            logged = await self._try(trouble, self._alert_log.note, alert, now)
        number, first = logged or (None, True)
        channels = alert.channels if alert.test else await sounding()
        deliveries = [
            self._deliver(alert, channel, number, first=first or alert.test)
            for channel in (Channel.DESKTOP, Channel.COMMAND)
            if channel in channels and self._reaches(channel)
        ]
        await asyncio.gather(*deliveries)

    def _reaches(self, channel: Channel) -> bool:
        return (self.desktop if channel is Channel.DESKTOP else self._settings.command) is not None

    async def _try(self, trouble: str, work: Callable[[*Arguments], Result], *args: *Arguments) -> Result | None:
        """Return the result of work on the archive; None if it fails, which is logged with the consequence."""
        try:
            return await self._disk.run(work, *args)
        except (sqlite3.Error, OSError) as problem:
            _log.warning("%s: %s", trouble, problem)
            return None

    async def _deliver(self, alert: Alert, channel: Channel, number: int | None, *, first: bool) -> None:
        """Deliver by one channel unless another session does; at once if the archive is not available."""
        if not first:
            await asyncio.sleep(OTHERS_WAIT_S)
        while number is not None and self._alert_log is not None:
            trouble, now = "an alert is delivered without asking the other sessions", Moment.now(self._clock)
            claim = await self._try(trouble, self._alert_log.claim, number, channel, now)
            if claim is None or claim.mine:
                break
            if claim.done:
                return
            await asyncio.sleep(claim.free_in_s)
        result = await self._handed_over(alert, channel)
        if number is not None and self._alert_log is not None:
            await self._try("an alert may be delivered again", self._alert_log.finish, number, channel, result)

    async def _handed_over(self, alert: Alert, channel: Channel) -> str:
        """Deliver by desktop or command; return the result as the log shows it."""
        if channel is Channel.DESKTOP:
            assert self.desktop is not None
            self.desktop(alert.sentence)
            return "sent"
        assert self._settings.command is not None
        if not self._commands.take():
            failure = f"not run: {self._settings.commands_a_minute} a minute are allowed"
            if self._limit_notices.take():
                self._say_failure(failure)
            return f"FAILED, {failure}"
        event = alert.as_json(self.account, self._settings.profile, self._settings.environment)
        try:
            await self._settings.command.run(f"{json.dumps(event)}\n")
        except CommandFailed as problem:
            self._say_failure(str(problem))
            return f"FAILED, {problem}"
        return "done"

    def _say_failure(self, failure: str) -> None:
        self._tell(f"Alert command {failure}")
