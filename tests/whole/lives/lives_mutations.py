"""The mended faults of a reversal, by name, each put back into a running program, and the lives that can show it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.whole.lives.plan import ActKind, ClockOf, Damage, Plan, ReadFaultKind, ReplyKind
from tradetui.desk import trading_session
from tradetui.desk.account import identity
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.feeds import positions as positions_feed
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.intents import locks
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.journal_registry import Registry
from tradetui.desk.intents.journal.registered_journal import JournalLocation, RegisteredJournal
from tradetui.desk.intents.states import Event, WrongStep
from tradetui.desk.reversal import market_state
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.intent_watch import IntentWatch
from tradetui.desk.reversal.sending import Sending
from tradetui.desk.reversal.tracking import evidence, order_reads
from tradetui.desk.reversal.tracking.evidence import Standing
from tradetui.desk.reversal.tracking.outcome_tracker import OutcomeTracker
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.errors import NotSent, OutcomeUnknown, Rejected
from tradetui.storage.process_life import ProcessLives
from tradetui.trading.positions import SHORT, Position
from tradetui.trading.positions import reported as reported_position
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import OrderStatus
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.reversal import ReversalRequest

Patch = Callable[[Any, str, Any], object]
"""Puts a value in the place of an attribute: `setattr`, or pytest's, which takes it back."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault to put back, which lives may show it, and the seed of the first of the suite's that does."""

    put_back: Callable[[Patch], None]
    shows: Callable[[Plan], bool]
    first_seed: int


# 1. A clock that steps is no evidence


def waited_by_the_wall_clock(patch: Patch) -> None:
    def elapsed_s(self: locks.StepWriters, event: Event) -> float:
        return max(0.0, (self._clock.wall_ms() - event.at_ms) / 1000)

    patch(locks.StepWriters, "elapsed_s", elapsed_s)


def waited_across_boots(patch: Patch) -> None:
    patch(locks, "elapsed_s", lambda event, now, first_seen_s: abs(now.monotonic_s - event.monotonic_s))


def absent_by_the_exchange_clock_alone(patch: Patch) -> None:
    def waited_s(self: OutcomeTracker, intent: Any, call_ended_s: float | None = None) -> float:
        return 3600.0

    patch(OutcomeTracker, "waited_s", waited_s)


def absent_whatever_the_exchange_clock(patch: Patch) -> None:
    patch(order_reads, "_WINDOW_MS", -(10**9))


def released_at_once(patch: Patch) -> None:
    patch(Execution, "reason_against_release", lambda self, intent: None)


def left_behind_waits(patch: Patch) -> None:
    patch(ProcessLives, "has_ended", lambda self, owner: False)


# 2. An order that is not over is not settled


def partly_filled_is_over(patch: Patch) -> None:
    right = evidence._standing

    def standing(plan: Any, look: Any, *more: Any, **options: Any) -> Standing:
        order = look.order
        if order is not None and order.status is OrderStatus.PARTIALLY_FILLED:
            order = order.model_copy(update={"state": "filled"})
        return right(plan, replace(look, pending=(), order=order), *more, **options)

    patch(evidence, "_standing", standing)
    patch(evidence, "UNCHANGED_S", 12.0)


def settled_after_twelve_seconds(patch: Patch) -> None:
    patch(evidence, "UNCHANGED_S", 12.0)
    patch(evidence, "UNEXPLAINED_S", 12.0)


def never_corrected(patch: Patch) -> None:
    async def correct(self: OutcomeTracker, *arguments: Any) -> None:
        return None

    patch(OutcomeTracker, "_correct", correct)


def an_order_that_is_over_rests(patch: Patch) -> None:
    patch(market_state, "_may_fill", lambda order: True)


def a_fill_counts_as_it_came_first(patch: Patch) -> None:
    def tagged(self: FillHistory, reply: Reply[FuturesFill]) -> list[ProductRow[FuturesFill]]:
        rows = [ProductRow(self.product_type, fill) for fill in reply.rows]
        return [self._rows.get(row.row_id) or row for row in rows]

    patch(FillHistory, "_tagged", tagged)


# 3. Whatever goes wrong after the first byte is unknown, said, locked and followed


def unknown_is_a_failure(patch: Patch) -> None:
    right = Sending._failed

    async def failed(self: Sending, problem: BaseException, *more: Any) -> Any:
        if isinstance(problem, OutcomeUnknown):
            problem = Rejected(problem.message)
        return await right(self, problem, *more)

    patch(Sending, "_failed", failed)


def an_exception_ends_the_search(patch: Patch) -> None:
    right, right_look = IntentWatch._take_up, OutcomeTracker._look
    abandoned_intents: set[str] = set()

    async def look(self: OutcomeTracker, search: Any) -> bool:
        try:
            result = await right_look(self, search)
        except Exception:
            abandoned_intents.add(search.sent.intent)
            return True
        return result

    async def take_up(self: IntentWatch, first: bool) -> None:
        self._taken_up.update(abandoned_intents)  # else what nobody follows any more is taken up again
        await right(self, first)

    patch(OutcomeTracker, "_look", look)
    patch(IntentWatch, "_take_up", take_up)


# 4. A reply that carries another clientOid is no acknowledgement


def any_reply_acknowledges(patch: Patch) -> None:
    patch(ReversalRequest, "is_answered_by", lambda self, row: True)


# 5. A word nobody knows decides nothing


def unknown_side_is_short(patch: Patch) -> None:
    right = reported_position

    def reported(product_type: Any, row: Any) -> Position:
        position = right(product_type, row)
        return position if position.leg is not None else replace(position, leg=SHORT)

    patch(positions_feed, "reported", reported)


# 6. The journal is never silently new, and a symbol is locked for the account


def no_registry(patch: Patch) -> None:
    right = trading_session.journal_location

    def without_registry(settings: DeskSettings, account: AccountIdentity) -> JournalLocation:
        return right(settings, account)._replace(registry_file=None)

    patch(trading_session, "journal_location", without_registry)


def locked_under_one_name(patch: Patch) -> None:
    patch(AccountIdentity, "aliases", lambda self, key_stand_in: (self.name,))


def addresses_as_they_are_written(patch: Patch) -> None:
    patch(identity, "normalised_address", lambda base_url: base_url)
    patch(AccountIdentity, "former_names", lambda self, key_stand_in: ())


def a_lost_journal_is_new(patch: Patch) -> None:
    right = Registry.journals
    patch(
        Registry,
        "journals",
        lambda self, aliases: [head for head in right(self, aliases) if _is_whole(head.path)],
    )


def _is_whole(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def sent_is_written_behind(patch: Patch) -> None:
    right, behind = Intents.about_to_send, set[asyncio.Task[None]]()

    async def about_to_send(self: Intents, intent: str, details: Mapping[str, Any]) -> None:
        async def write() -> None:
            await asyncio.sleep(0.05)
            with suppress(NotSent, WrongStep):
                await right(self, intent, details)

        behind.add(asyncio.create_task(write()))

    patch(Intents, "about_to_send", about_to_send)


def chain_not_checked(patch: Patch) -> None:
    patch(Journal, "verify", lambda self: self._verified)
    patch(RegisteredJournal, "verify", lambda self: self._verified)
    patch(Journal, "check", lambda self: None)
    patch(RegisteredJournal, "check", lambda self: None)


# Lives that can show them


def _unanswered(plan: Plan) -> bool:
    return plan.posts[0].reply in (ReplyKind.LOST, ReplyKind.SYSTEM_CODE, ReplyKind.SERVER_ERROR, ReplyKind.GARBLED)


def _late(plan: Plan) -> bool:
    arrives = plan.posts[0].arrives_after_s
    return _unanswered(plan) and (arrives is None or arrives >= 12)


def _clock_steps(plan: Plan, clock: ClockOf, least_s: float) -> bool:
    steps = (*plan.clock_steps, *plan.posts[0].steps)
    return any(step.clock is clock and step.by_s >= least_s for step in steps)


def _late_with_stepping_machine(plan: Plan) -> bool:
    return _late(plan) and _clock_steps(plan, ClockOf.MACHINE, 30)


def _late_with_stepping_exchange(plan: Plan) -> bool:
    return _late(plan) and not plan.core_only and _clock_steps(plan, ClockOf.EXCHANGE, 30)


def _late_with_exchange_set_back(plan: Plan) -> bool:
    steps = [step for step in plan.posts[0].steps if step.clock is ClockOf.EXCHANGE and step.for_s is None]
    return _late(plan) and not plan.core_only and any(step.by_s < 0 for step in steps)


def _unfinished(plan: Plan) -> bool:
    return any(fate.matching.name in ("stays partly filled", "legs apart") for fate in plan.posts[:1])


def _unfinished_unseen(plan: Plan) -> bool:
    return _unfinished(plan) and plan.core_only and not plan.shows_pending and plan.posts[0].reply is ReplyKind.OK


def _lying(plan: Plan) -> bool:
    return plan.posts[0].matching.name == "lying detail" and not plan.core_only and plan.posts[0].reply is ReplyKind.OK


def _killed_while_sending(plan: Plan) -> bool:
    return not plan.disk_slow_share and any(act.kill_state == "intended" and act.kill_step for act in plan.acts)


def _rebooted(plan: Plan) -> bool:
    reboots = (act for act in plan.acts if act.kind is ActKind.REBOOT)
    return _late(plan) and any(8 < act.at_s < 40 and act.pause_s < 20 for act in reboots)


def _released(plan: Plan) -> bool:
    return _unanswered(plan) and plan.core_only and any(act.kind is ActKind.RELEASE for act in plan.acts)


def _faults_while_following(plan: Plan) -> bool:
    return not plan.core_only and any(fault.share == 1.0 and 4 < fault.at_s < 25 for fault in plan.read_faults)


def _false_fills(plan: Plan) -> bool:
    return plan.core_only and any(fault.kind is ReadFaultKind.FALSE_SIZES for fault in plan.read_faults)


def _two_names(plan: Plan) -> bool:
    return len({(process.base_url, process.data_dir) for process in plan.processes}) > 1


def _two_data_dirs(plan: Plan) -> bool:
    return len({process.data_dir for process in plan.processes}) > 1


def _one_without_uid(plan: Plan) -> bool:
    return _two_data_dirs(plan) and any(not process.tells_uid and not process.profile_uid for process in plan.processes)


def _damaged(*kinds: Damage) -> Callable[[Plan], bool]:
    return lambda plan: len(plan.processes) == 1 and any(act.damage in kinds for act in plan.acts)


MUTATIONS: Mapping[str, Mutation] = {
    "1 waited by the wall clock": Mutation(waited_by_the_wall_clock, _late_with_stepping_machine, 9),
    "1 waited across boots": Mutation(waited_across_boots, _rebooted, 9),
    "1 absent by the exchange's clock alone": Mutation(
        absent_by_the_exchange_clock_alone, _late_with_stepping_exchange, 9
    ),
    "1 absent whatever the exchange's clock": Mutation(
        absent_whatever_the_exchange_clock, _late_with_exchange_set_back, 100
    ),
    "1 released at once": Mutation(released_at_once, _released, 42),
    "1 what a dead process left behind waits": Mutation(left_behind_waits, _killed_while_sending, 5),
    "2 partly filled is over": Mutation(partly_filled_is_over, _unfinished, 8),
    "2 settled after twelve seconds": Mutation(settled_after_twelve_seconds, _unfinished_unseen, 8),
    "2 never corrected": Mutation(never_corrected, _unfinished_unseen, 10),
    "2 an order that is over rests": Mutation(an_order_that_is_over_rests, lambda plan: plan.lists_ended, 24),
    "2 a fill counts as it came first": Mutation(a_fill_counts_as_it_came_first, _false_fills, 10),
    "3 unknown is a failure": Mutation(unknown_is_a_failure, _unanswered, 9),
    "3 an exception ends the search": Mutation(an_exception_ends_the_search, _faults_while_following, 44),
    "4 any reply acknowledges": Mutation(
        any_reply_acknowledges, lambda plan: plan.posts[0].reply is ReplyKind.FOREIGN, 13
    ),
    "5 an unknown side is short": Mutation(
        unknown_side_is_short, lambda plan: bool(plan.spelling.hold_side) and not plan.core_only and not plan.hedge, 167
    ),
    "6 no registry": Mutation(no_registry, _two_data_dirs, 26),
    "6 locked under one name": Mutation(locked_under_one_name, _one_without_uid, 124),
    "6 addresses as they are written": Mutation(addresses_as_they_are_written, _two_names, 12),
    "6 a lost journal is new": Mutation(a_lost_journal_is_new, _damaged(Damage.DELETED, Damage.EMPTIED), 48),
    "6 sent is written behind": Mutation(sent_is_written_behind, _killed_while_sending, 5),
    "6 the chain is not checked": Mutation(chain_not_checked, _damaged(Damage.FLIPPED), 6),
}
