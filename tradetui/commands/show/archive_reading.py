"""Opens the archive for results, and reads missing parts of a period into it.

Every page is stored together with the rest that is still missing, so that an interrupted read continues there. Refused
parts are not requested again for three hours, because a script may run `show pnl` often.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Final

from tradetui.commands.process.console import PageProgress, say, show_progress, stderr_is_terminal
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.account.account_storage import archive_file
from tradetui.desk.account.identity import KnownAccounts, identify
from tradetui.desk.archive.coverage import HOUR_MS
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import first_sample
from tradetui.desk.archive.ledger.missing_fills import MissingSpan, keep_refusals, missing_spans, unread_gaps, were_read
from tradetui.desk.archive.ledger_queries import bills_behind
from tradetui.desk.feeds.bills import BillHistory, ClosedPositionHistory
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.feeds.orders import AccountsReader, EquitySampler
from tradetui.desk.feeds.positions import held_sizes
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import SystemClock
from tradetui.exchange.errors import ExchangeError, Rejected, UnreadableReply
from tradetui.profiles.errors import ConfigurationError
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.sqlite_file import FileUnusable, is_damage
from tradetui.wire.exchange_time import NINETY_DAYS_MS, utc_moment
from tradetui.wire.models.futures_accounts import PositionsRequest
from tradetui.wire.product_types import ProductType

REFUSED_FOR_MS: Final = 3 * HOUR_MS
"""Fills are not requested again for this long after a refusal."""
_FILLS_REFUSED: Final = (
    "tradetui: the exchange refused some fills of {} in this period at {:%H:%M %Z}: {}. "
    "They are requested again after {:%H:%M %Z}, or now with --fresh."
)
READ_ANEW: Final = "Start tradetui once: it sets a damaged archive aside and reads a new one."
_BOOKING: Final = "working out results"


def open_archive(profile: OpenProfile, since: int, until: int, *, fresh: bool, of_equity: bool = False) -> Archive:
    """Return the archive with its ledger up to date, or, `of_equity`, with a sample.

    Without an archive, or with `fresh`, it reads from the exchange. Missing parts of the period (Unix ms) are read if
    the exchange still keeps them; a failure is printed, and the rest returned. Raises ConfigurationError, and
    ExchangeError if there is nothing to return.
    """
    settings = profile.settings
    file = archive_file(settings, profile.presumed_account)
    try:
        archive = None if fresh else _archive_with_records(file, settings.product_types, of_equity=of_equity)
        if archive is None:
            archive = asyncio.run(_read_first(profile, since, until, of_equity=of_equity))
        elif not of_equity:
            _complete(profile, archive, since, until)
        if not of_equity:
            _book_fills(archive)  # outside the event loop, in which Ctrl+C would wait for its end
    except FileUnusable as problem:
        raise ConfigurationError(problem.reason, location=problem.file, remedy=problem.remedy) from None
    except BrokenPipeError:
        raise  # the reader of standard error has gone, so the archive is not at fault
    except (sqlite3.Error, OSError) as problem:
        damaged = isinstance(problem, sqlite3.Error) and is_damage(problem)
        remedy = READ_ANEW if damaged else "Check the disk and its free space."
        raise ConfigurationError(f"it cannot be used ({problem})", location=str(file), remedy=remedy) from None
    return archive


def _archive_with_records(
    file: Path | None, product_types: Sequence[ProductType], *, of_equity: bool
) -> Archive | None:
    """Return the existing archive; None if it lacks fills of a product type, or, `of_equity`, samples."""
    if file is None or not file.exists():
        return None
    # Checking a large file takes too long for a command; a session does it at its start.
    archive = _opened(file, checks="ledger_mark")
    if of_equity:
        has_records = first_sample(archive.connection, product_types) is not None
    else:
        has_records = all(were_read(archive.connection, product_type) for product_type in product_types)
    if has_records:
        return archive
    archive.close()
    return None


def _opened(file: Path | None, *, checks: str = "") -> Archive:
    archive = Archive(file, checks=checks)
    if archive.set_aside:
        say(f"tradetui: {archive.set_aside}")
    return archive


def _complete(profile: OpenProfile, archive: Archive, since: int, until: int) -> None:
    """Read the missing fills and bills of a period; a failure is printed."""
    product_types = profile.settings.product_types
    incomplete = _incomplete_types(archive, product_types, since, until, profile.settings.zone)
    behind = [
        kind for kind in product_types if bills_behind(archive.connection, kind, until) and kind not in incomplete
    ]

    async def read() -> None:
        async with profile.reader() as client:
            await _PeriodReader(client, archive, since, until).read(incomplete, behind)

    try:
        if incomplete or behind:
            asyncio.run(read())
    except ExchangeError as problem:
        say(f"tradetui: missing parts of this period could not be read: {problem}")


def _incomplete_types(
    archive: Archive, product_types: Sequence[ProductType], since: int, until: int, zone: tzinfo
) -> list[ProductType]:
    """Return the product types with unread fills or bills of the period; print which fills wait after a refusal."""
    now_ms = SystemClock().wall_ms()
    since = max(since, now_ms - NINETY_DAYS_MS)
    incomplete = set()
    for product_type in product_types:
        bills = archive.bill_coverage(product_type)
        if bills.misses(since, until) and not bills.refusal:
            incomplete.add(product_type)
    for gap in unread_gaps(archive.connection, now_ms):
        if gap.meets(since, until) and _is_refused(gap, now_ms):
            refused_at = utc_moment(gap.refused_ms).astimezone(zone)
            next_at = utc_moment(gap.refused_ms + REFUSED_FOR_MS).astimezone(zone)
            say(_FILLS_REFUSED.format(gap.product_type, refused_at, gap.refusal.rstrip("."), next_at))
        elif gap.meets(since, until):
            incomplete.add(gap.product_type)
    return [kind for kind in product_types if kind in incomplete]


def _is_refused(gap: MissingSpan, now_ms: int) -> bool:
    return 0 <= now_ms - gap.refused_ms < REFUSED_FOR_MS


def _book_fills(archive: Archive) -> None:
    is_shown = stderr_is_terminal() and not archive.ledger_is_current
    while archive.advance_ledger(over_gaps=True):
        if is_shown:
            show_progress(f"{_BOOKING}: {archive.fills_to_book} fills to go" if archive.fills_to_book else _BOOKING)
    if is_shown:
        show_progress(f"{_BOOKING}: done", last=True)


async def _read_first(profile: OpenProfile, since: int, until: int, *, of_equity: bool) -> Archive:
    """Identify the account at the exchange, and read the period, or, `of_equity`, a sample, into its archive."""
    key, settings = profile.account_key, profile.settings
    async with profile.reader() as client:
        accounts = KnownAccounts(settings.data_dir)
        identity = await identify(client, key, settings.uid, accounts.uid_of(key))
        if identity.origin == "exchange":
            accounts.remember(key, identity.uid)
        archive = _opened(archive_file(settings, identity))
        if of_equity:
            sampler = EquitySampler(settings.product_types, InlineDisk())
            await sampler.attach(archive)
            reading = await AccountsReader(client, settings.product_types, sampler).read()
            if reading.error is not None:
                raise reading.error
        else:
            await _PeriodReader(client, archive, since, until, fresh=True).read(settings.product_types)
    return archive


@dataclass(frozen=True, slots=True)
class _PeriodReader:
    """Reads the missing parts of a period (Unix ms) into an archive; `fresh` repeats requests refused recently."""

    client: ExchangeReader
    archive: Archive
    since: int
    until: int
    fresh: bool = False
    progress: PageProgress = field(default_factory=partial(PageProgress, "reading fills and bills"))

    async def read(self, incomplete: Sequence[ProductType], behind: Sequence[ProductType] = ()) -> None:
        """Read fills and bills of the incomplete product types, and only bills for those in `behind`."""
        refusals: list[ExchangeError] = []
        try:
            for product_type in behind:
                await self._read_bills(product_type)
            for product_type in incomplete:
                refusals += await self._read_fills(product_type)
                await self._read_bills(product_type)
        finally:
            self.progress.end()
        if refusals:
            raise refusals[0]

    async def _read_fills(self, product_type: ProductType) -> list[ExchangeError]:
        """Read the newest fills, then older ones page by page until nothing of the period is missing.

        Refused or undecodable parts are skipped and stored as such; returns their errors. An unreadable reply is no
        refusal: it is requested once more at once, and again by every later read.
        """
        history, now_ms = FillHistory(self.client, product_type, InlineDisk()), self.client.clock.wall_ms()
        await history.attach(self.archive)
        await self._read_newest(history)
        with suppress(ExchangeError):  # if positions are reported, they show whether these are all fills
            reply = await self.client.read(PositionsRequest(product_type=product_type))
            if (held := held_sizes(reply)) is not None:
                history.ledger_upkeep.compare(held, reply.request_time)
        if not self.fresh:
            gaps = unread_gaps(self.archive.connection, now_ms)
            history.passed_over = {
                gap.cursor for gap in gaps if gap.product_type is product_type and _is_refused(gap, now_ms)
            }
        failed = await self._read_gaps(history, product_type)
        refusals = {gap.cursor: "a row of theirs cannot be read" for gap in history.undecodable_pages.gaps}
        refusals |= {cursor: str(problem) for cursor, problem in failed.items() if isinstance(problem, Rejected)}
        with self.archive.transaction() as connection:
            keep_refusals(connection, product_type, refusals, now_ms)
        _book_fills(self.archive)
        await self._read_newest(history)
        return [problem for cursor, problem in failed.items() if cursor in history.passed_over]

    async def _read_newest(self, history: FillHistory) -> None:
        await history.read_newest(self.client.clock.monotonic())
        self.progress.page()

    async def _read_gaps(self, history: FillHistory, product_type: ProductType) -> dict[str, ExchangeError]:
        """Read pages until no fills of the period are missing; return failures by the cursor of their page."""
        failed: dict[str, ExchangeError] = {}
        while any(
            span.product_type is product_type and span.meets(self.since, self.until)
            for span in missing_spans(self.archive.connection, self.client.clock.wall_ms())
        ):
            try:
                if not await history.read_gap():
                    break
            except (Rejected, UnreadableReply) as problem:
                cursor = history.gaps[-1].cursor  # where the refused part waits now
                if isinstance(problem, Rejected) or cursor in failed:
                    history.passed_over.add(cursor)
                failed[cursor] = problem
            self.progress.page()
        return failed

    async def _read_bills(self, product_type: ProductType) -> None:
        """Read bills until none of the period is missing; they are optional, and fills do not need them."""
        history, now = BillHistory(self.client, product_type, InlineDisk()), self.client.clock.monotonic()
        await history.attach(self.archive)
        with suppress(ExchangeError):
            await history.read_newest(now)
            self.progress.page()
            while history.coverage.misses(self.since, self.until) and await history.read_gap(now):
                self.progress.page()
        positions = ClosedPositionHistory(self.client, product_type, InlineDisk())
        await positions.attach(self.archive)
        with suppress(ExchangeError):
            await positions.read(now)
            self.progress.page()
