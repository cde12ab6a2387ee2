"""The log of all alerts, and the session of an account that delivers one: both are in the account's archive.

Every call blocks for a moment and belongs on the disk's thread. Moments are compared by the monotonic clock of one
boot; what another boot wrote is over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.desk.alerts.alert_event import Alert
from tradetui.desk.alerts.rules import Channel
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.exchange.clock import Moment

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

CLAIMABLE_AGAIN_S: Final = 10.0
"""A channel that was claimed and is not done after so long may be claimed again; a command has ended by then."""
SAME_S: Final = 45.0
"""An event that recurs under its key within this time is the same, seen by another session; a new one is later."""
LOG_KEPT: Final = 1_000
"""Alerts in the log; older ones are forgotten, but for those of reversals."""
_SHOWN: Final = "shown"
"""In the place of the stage: the end of a reversal was shown without an alert."""
_BEGINNING: Final = ""
"""In the place of the intent: from here on it is noted which ends were shown."""


class DeliveryClaim(NamedTuple):
    """Whether a channel of an alert is this session's to do, is done, or may be claimed again in so many seconds."""

    mine: bool = False
    done: bool = False
    free_in_s: float = 0.0


class LoggedAlert(NamedTuple):
    """An alert of the log: when (Unix ms), what, for which rules, and what became of it."""

    number: int
    at_ms: int
    sentence: str
    rules: str
    delivery: str

    @property
    def row_id(self) -> str:
        return str(self.number)


class AlertLog:
    """The log of an account, as one session, named `owner`, writes it and claims deliveries in it."""

    def __init__(self, archive: Archive, owner: str) -> None:
        self._archive = archive
        self._owner = owner

    def typed(self, now: Moment) -> None:
        """Note that a person typed into this session, and forget the sessions of other boots."""
        with self._archive.transaction() as connection:
            connection.execute(
                "INSERT INTO alert_session VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE SET boot = excluded.boot,"
                " typed = excluded.typed",
                (self._owner, now.boot, now.monotonic_s),
            )
            connection.execute("DELETE FROM alert_session WHERE boot <> ?", (now.boot,))

    def leave(self) -> None:
        """Let another session be the one that was typed into last."""
        with self._archive.transaction() as connection:
            connection.execute("DELETE FROM alert_session WHERE owner = ?", (self._owner,))

    def note(self, alert: Alert, now: Moment) -> tuple[int, bool]:
        """Write an alert unless another session has; its number, and whether this session was typed into last."""
        with self._archive.transaction() as connection:
            number = self._number_of(connection, alert, now) or self._enter(connection, alert, now)
            last = connection.execute(
                "SELECT owner FROM alert_session WHERE boot = ? ORDER BY typed DESC, owner LIMIT 1", (now.boot,)
            ).fetchone()
            return number, last is None or last[0] == self._owner

    @staticmethod
    def _number_of(connection: sqlite3.Connection, alert: Alert, now: Moment) -> int | None:
        row = connection.execute(
            "SELECT number, boot, monotonic FROM alert WHERE key = ? ORDER BY number DESC LIMIT 1", (alert.event.key,)
        ).fetchone()
        if row is None:
            return None
        number: int = row[0]
        same = not alert.event.recurs or (row[1] == now.boot and abs(now.monotonic_s - row[2]) < SAME_S)
        return number if same else None

    @staticmethod
    def _enter(connection: sqlite3.Connection, alert: Alert, now: Moment) -> int:
        """Write an alert, and forget those that are too many; its number."""
        channels = ", ".join(sorted(alert.channels)) or ("silenced" if alert.silenced else "")
        values = (alert.event.key, alert.at_ms, now.boot, now.monotonic_s, alert.sentence)
        cursor = connection.execute(
            "INSERT INTO alert (key, at_ms, boot, monotonic, sentence, rules, channels) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, ", ".join(alert.rules), channels),
        )
        number = cursor.lastrowid or 0
        last_kept = number - LOG_KEPT
        connection.execute("DELETE FROM alert WHERE number <= ? AND key NOT LIKE 'reversal|%'", (last_kept,))
        connection.execute("DELETE FROM alert_claim WHERE alert <= ?", (last_kept,))
        return number

    def claim(self, number: int, channel: Channel, now: Moment) -> DeliveryClaim:
        """Take it upon this session to deliver an alert by a channel, if that is free."""
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
        """Note the result of a channel that was claimed: no session tries it again."""
        with self._archive.transaction() as connection:
            connection.execute(
                "UPDATE alert_claim SET result = ? WHERE alert = ? AND channel = ?", (result, number, channel)
            )

    def end_shown(self, intent: str, now: Moment) -> None:
        """Note that the end of a reversal was shown without an alert."""
        with self._archive.transaction() as connection:
            _note_shown(connection, [intent], now)

    def unannounced_outcomes(self, settled: frozenset[str], now: Moment) -> frozenset[str]:
        """Of settled reversals, by intent, those whose end was neither shown nor alerted since it was open.

        What was settled before anything was noted here counts as shown, unless an alert says that it was open.
        """
        with self._archive.transaction() as connection:
            keys = connection.execute("SELECT key FROM alert WHERE key LIKE 'reversal|%|%' ORDER BY number").fetchall()
            stages = {intent: stage for _, intent, stage, *_ in (key.split("|") for (key,) in keys)}
            if _BEGINNING not in stages:
                _note_shown(connection, [_BEGINNING, *(settled - stages.keys())], now)
                settled &= stages.keys()
        return frozenset(intent for intent in settled if stages.get(intent) not in (SearchStage.ENDED, _SHOWN))

    def newest(self, limit: int = LOG_KEPT) -> Sequence[LoggedAlert]:
        """The last alerts, newest first; events that raised none are left out."""
        with self._archive.transaction() as connection:
            rows = connection.execute(
                "SELECT number, at_ms, sentence, rules, channels FROM alert WHERE rules <> ''"
                " ORDER BY number DESC LIMIT ?",
                (limit,),
            ).fetchall()
            results: dict[int, dict[str, str]] = {}
            for number, channel, result in connection.execute(
                "SELECT alert, channel, result FROM alert_claim WHERE result IS NOT NULL"
            ):
                results.setdefault(number, {})[channel] = result
        return [
            LoggedAlert(number, at_ms, sentence, rules, _delivery(channels, results.get(number, {})))
            for number, at_ms, sentence, rules, channels in rows
        ]


def _note_shown(connection: sqlite3.Connection, intents: Iterable[str], now: Moment) -> None:
    rows = [(f"reversal|{intent}|{_SHOWN}", now.at_ms, now.boot, now.monotonic_s) for intent in intents]
    connection.executemany(
        "INSERT INTO alert (key, at_ms, boot, monotonic, sentence, rules, channels) VALUES (?, ?, ?, ?, '', '', '')",
        rows,
    )


_ORDER: Final[Mapping[str, int]] = {channel: index for index, channel in enumerate(Channel)}


def _delivery(channels: str, results: Mapping[str, str]) -> str:
    """Every channel in the order of `Channel` with its result, where that is known; or that it was silenced.

    A session with other rules than the one that wrote the alert down may have delivered it by further channels.
    """
    chosen = sorted({*filter(None, channels.split(", ")), *results}, key=lambda channel: _ORDER.get(channel, 0))
    delivered = [f"{channel}: {results[channel]}" if channel in results else channel for channel in chosen]
    return ("; " if results else ", ").join(delivered)
