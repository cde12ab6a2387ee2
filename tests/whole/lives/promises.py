"""What must hold in every life, judged by what the second exchange did and what stands in the journal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.whole.lives.books import OrderState, Reversal
from tests.whole.lives.exchange import Request, SecondExchange, holding_text
from tests.whole.lives.network import Network, Post
from tests.whole.lives.plan import IdOn, Plan, ReplyKind

RELEASE_AFTER_S = ABSENCE_S = 35.0
STEADY_S = 60.0
WINDOW_MS = 35_000
READ_WITHIN_S = 30.0
"""A look takes no longer than this, nor what a preview rests on."""
WITHDRAWN_S = 12.0
NOT_AS_PREVIEWED = "not as previewed"
TAKEN_FOR_OURS = frozenset({"reversed", "reversed smaller", "reversed larger", "closed only", "remainder left"})
"""What fills of others may look like where no order can be asked for."""
SEEN_ELSEWHERE_S, SLOW_DISK_S = 2.5, 20.0
OPEN_STATES = frozenset({"live", "partially_filled"})
LOCKING = frozenset({"intended", "sent", "acknowledged", "unknown", "corrected"})


class BrokenPromise(AssertionError):
    """A promise that a life broke."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an intent as it stands in the journal, and when it was written there."""

    at_s: float
    state: str
    details: dict[str, Any]
    process: int


@dataclass
class IntentTrail:
    """Every step of one intent."""

    intent: str
    steps: list[Step] = field(default_factory=list)

    @property
    def state(self) -> str:
        """Where it stands."""
        return self.steps[-1].state

    def last(self, state: str) -> Step | None:
        """The newest step of a state."""
        return next((step for step in reversed(self.steps) if step.state == state), None)


class Promises:
    """Watches one life. A broken promise is kept, with the time and what was seen, and the life goes on."""

    def __init__(self, plan: Plan, network: Network) -> None:
        self.plan = plan
        self.network = network
        self.exchange: SecondExchange = network.exchange
        self.trails: dict[str, IntentTrail] = {}
        self.broken: list[str] = []
        self.trace: list[str] = []
        self._damaged: set[str] = set()
        self._damaged_at_s: dict[str, float] = {}
        self._seen_open_at_s: dict[tuple[str, int], float] = {}
        """When a process was last shown an order of a clientOid as open."""
        self._accepted_at_s: dict[str, float] = {}

    # The story

    def note(self, text: str) -> None:
        """Write into the story of the life."""
        self.trace.append(f"{_now_s():9.3f}  {text}")

    def breaks(self, promise: str, detail: str) -> None:
        """A promise does not hold."""
        self.note(f"BROKEN ({promise}) {detail}")
        self.broken.append(f"({promise}) at {_now_s():.1f} s: {detail}")

    # What happens

    def damaged(self, data_dir: str) -> None:
        """The journal of a data directory is not what it was."""
        self._damaged.add(data_dir)
        self._damaged_at_s[data_dir] = _now_s()

    def loss_accepted(self, data_dir: str) -> None:
        """The trader goes on without what is lost."""
        self._damaged.discard(data_dir)
        self._accepted_at_s[data_dir] = _now_s()

    def departs(self, post: Post) -> None:
        """(a) No second POST leaves while the first could still change anything."""
        self.note(f"POST {post.number} {post.client_oid} leaves process {post.process}: {post.body}")
        data_dir = self.plan.processes[post.process].data_dir
        if data_dir in self._damaged:
            self.breaks("a", f"{post.client_oid} left though the journal was lost and nobody has accepted it")
        trail = self.trails.get(post.client_oid)
        if trail is None or trail.state != "sent":
            self.breaks(
                "a", f"POST {post.client_oid} left while the journal says {trail.state if trail else 'nothing'}"
            )
        for earlier in self.network.posts[: post.number]:
            if earlier.symbol != post.symbol:
                continue
            if earlier.client_oid == post.client_oid:
                self.breaks("a", f"{post.client_oid} was sent twice")
            reversal = self.reversal_of(earlier)
            if reversal is not None and not reversal.is_over and not self.excused(earlier):
                self.breaks("a", f"{post.client_oid} left while {earlier.client_oid} was {reversal.past.now}")

    def has_read(self, request: Request, rows: list[dict[str, Any]], process: int) -> None:
        """A process that looks after a symbol has a reply in its hands; an order that it shows as open is known."""
        if request.query.get("symbol"):
            for row in rows:
                if row.get("status", row.get("state")) in OPEN_STATES:
                    self._seen_open_at_s[str(row.get("clientOid")), process] = _now_s()

    def accepted(self, reversal: Reversal) -> None:
        """The exchange takes an order now."""
        self.note(f"the exchange takes {reversal.client_oid}: {reversal.matching.name}")
        self._changes(reversal, "was taken")
        trail = self.trails.get(reversal.client_oid)
        if trail is not None and trail.state in ("settled", "rejected", "withdrawn"):
            self.breaks("b", f"the journal says {trail.state} of {reversal.client_oid}, which is taken only now")

    def filled(self, reversal: Reversal, state: OrderState) -> None:
        """An order of ours fills, or ends, now."""
        self.note(f"{reversal.client_oid} is {state.state}, closed {state.closed}, opened {state.opened}")
        if state.state != "canceled":
            self._changes(reversal, "filled")

    def _changes(self, reversal: Reversal, how: str) -> None:
        post = next(post for post in self.network.posts if post.client_oid == reversal.client_oid)
        later = [other for other in self.network.posts[post.number + 1 :] if other.symbol == post.symbol]
        if later and not self.excused(post):
            self.breaks("a", f"{post.client_oid} {how} after {later[0].client_oid} had left")

    def written(self, intent: str, step: Step) -> None:
        """A step is in the journal now."""
        trail = self.trails.setdefault(intent, IntentTrail(intent))
        trail.steps.append(step)
        shown = {name: value for name, value in step.details.items() if name not in ("request", "after", "title")}
        self.note(f"journal (process {step.process}): {intent} {step.state} {shown}")
        if step.state == "intended":
            self._judge_before(intent, step)
        post = self.post_of(intent)
        if step.state == "acknowledged" and post is not None and post.fate.reply is ReplyKind.FOREIGN:
            self.breaks("b", f"{intent} is acknowledged by a reply that carries another clientOid")
        if step.state in ("withdrawn", "rejected") and post is not None:
            self._judge_undone(intent, step, post)
        if step.state == "released":
            self._judge_release(trail, step, post)
        if step.state == "settled":
            self._judge_settled(trail, step, post)

    def progressed(self, intent: str, state: str, sentence: str) -> None:
        """(c) What the dialog is told of a reversal."""
        self.note(f"told of {intent}: {state}: {sentence}")
        if state == "settled":
            self._must_be_over(intent, "the dialog says settled")

    def reports_not_done(self, posts: list[Post], sentence: str) -> None:
        """The dialog says that nothing was done: then nothing was, and nothing will be."""
        self.note(f"not done: {sentence}")
        for post in posts:
            if self.reversal_of(post) is not None:
                self.breaks("c", f"said to be not done ({sentence}), and {post.client_oid} was taken")

    # Judging

    def post_of(self, intent: str) -> Post | None:
        """The request of an intent, None where none left."""
        return next((post for post in self.network.posts if post.client_oid == intent), None)

    def reversal_of(self, post: Post) -> Reversal | None:
        """The order that a request became."""
        return self.network.books.reversals.get(post.client_oid)

    def watch(self, process: int, unsettled: tuple[str, ...]) -> None:
        """(c) While a reversal can still change anything, every process names it as not settled."""
        for post in self.network.posts:
            reversal = self.reversal_of(post)
            if reversal is None or reversal.is_over or self.excused(post):
                continue
            if _now_s() - post.departed_at_s < (SLOW_DISK_S if self.plan.disk_slow_share else SEEN_ELSEWHERE_S):
                continue
            if not any(post.symbol in sentence for sentence in unsettled):
                self.breaks("c", f"process {process} names nothing unsettled while {post.client_oid} is under way")

    def _judge_before(self, intent: str, step: Step) -> None:
        """(g) What a reversal rests on was held, and was held lately.

        Where positions are the sum of fills, it is the sum of those that the exchange has shown: some are shown before
        older ones.
        """
        before, symbol = step.details.get("before", {}), str(step.details.get("request", {}).get("symbol", ""))
        lag_s = 0.0 if self.plan.core_only else self._lag_s
        since_s = step.at_s - lag_s - READ_WITHIN_S
        held = self.network.books.held[symbol].between(since_s, step.at_s)
        if self.plan.core_only:
            held += self.network.books.summed_between(symbol, since_s, step.at_s)
        if before not in [holding_text(holding, hedge=self.plan.hedge) for holding in held]:
            self.breaks("g", f"{intent} rests on {before}, and held was {held[-1]}")

    def judge_left_behind(self, processes_alive: set[int], dead_since_s: dict[int, float]) -> None:
        """(h) What a dead process only intended is withdrawn by whoever has the same journal."""
        for trail in self.trails.values():
            step = trail.steps[-1]
            died_s = dead_since_s.get(step.process)
            if step.state != "intended" or died_s is None or step.at_s > died_s or _now_s() - died_s < WITHDRAWN_S:
                continue
            names = self.plan.processes[step.process]
            if any(self.plan.processes[number] == names for number in processes_alive):
                self.breaks("h", f"{trail.intent} of a dead process stays intended")

    def _judge_undone(self, intent: str, step: Step, post: Post) -> None:
        if self.reversal_of(post) is not None:
            self.breaks("b", f"the journal says {step.state} of {intent}, which was taken")

    def _judge_release(self, trail: IntentTrail, step: Step, post: Post | None) -> None:
        if post is None:
            return
        began = trail.last("unknown") or trail.last("sent")
        ended_at_s = post.ended_at_s if post.ended_at_s is not None else post.departed_at_s
        assert began is not None
        if step.at_s - ended_at_s < RELEASE_AFTER_S - 0.01:
            self.breaks("a", f"{trail.intent} was released {step.at_s - ended_at_s:.1f} s after its call ended")

    def _judge_settled(self, trail: IntentTrail, step: Step, post: Post | None) -> None:
        """(b) The journal's word is our order's effect as it was when written."""
        if post is None:
            names, first = {"unchanged", NOT_AS_PREVIEWED}, trail.steps[0]
            may_be_others = self.plan.core_only and bool(step.details.get("inferred"))
            if may_be_others and self._others_traded(first.details["request"]["symbol"], first.at_s):
                names |= TAKEN_FOR_OURS
            if step.details.get("outcome") not in names:
                outcome = step.details.get("outcome")
                self.breaks("b", f"{trail.intent} is settled as {outcome} though nothing of it left")
            return
        self._must_be_over(trail.intent, "the journal says settled")
        ended_at_s = post.ended_at_s if post.ended_at_s is not None else post.departed_at_s
        if self.reversal_of(post) is None and step.at_s - ended_at_s < ABSENCE_S - 0.01:
            age_s = step.at_s - ended_at_s
            self.breaks("a", f"{trail.intent} was taken for absent {age_s:.1f} s after its call ended")
        latest_ms = self.exchange.clock.highest_shown_ms(step.at_s - READ_WITHIN_S)
        if self.reversal_of(post) is None and latest_ms <= post.stamp_ms + WINDOW_MS:
            self.breaks("a", f"{trail.intent} was taken for absent while the exchange's time was within its window")
        names = self.names_of(post, step.at_s, inferred=bool(step.details.get("inferred")))
        if step.details.get("outcome") not in names:
            self.breaks("b", f"{trail.intent} is settled as {step.details.get('outcome')}, and is {sorted(names)}")
        self._judge_amounts(trail, step, post)

    def _judge_amounts(self, trail: IntentTrail, step: Step, post: Post) -> None:
        """(b) What it says was closed and opened so far is what our order had closed and opened then."""
        reversal, closed, opened = self.reversal_of(post), step.details.get("closed"), step.details.get("opened")
        if reversal is None or reversal.matching.lies or closed is None or opened is None:
            return
        if self._others_traded_beside(post) or looks_alike(reversal):
            return
        states = reversal.past.between(step.at_s - self._lag_s - 8.0, _now_s())
        if not any((Decimal(closed), Decimal(opened)) == (state.closed, state.opened) for state in states):
            self.breaks("b", f"{trail.intent} says closed {closed}, opened {opened}, and was {states}")

    def _must_be_over(self, intent: str, what: str) -> None:
        post = self.post_of(intent)
        reversal = None if post is None else self.reversal_of(post)
        if post is None or reversal is None or reversal.is_over:
            return
        if not self.excused(post):
            self.breaks("c", f"{what} of {intent}, which is {reversal.past.now}")

    def excused(self, post: Post) -> bool:
        """Whether the rules allow that the program takes an unfinished order for ended.

        It does where the trader released it in time, where order detail named an end that was none, and where
        nothing had changed for a minute while nothing showed the order as open.
        """
        trail = self.trails.get(post.client_oid)
        if trail is None:
            return False
        if trail.state == "released":
            return True
        accepted_at_s = self._accepted_at_s.get(self.plan.processes[post.process].data_dir)
        if accepted_at_s is not None and accepted_at_s >= post.departed_at_s:
            return True
        if trail.state != "settled":
            return False
        step = trail.steps[-1]
        reversal = self.reversal_of(post)
        if reversal is None:
            return False
        if reversal.matching.lies:
            return True
        return bool(step.details.get("inferred")) and self._stood_still(reversal, step.at_s)

    def _stood_still(self, reversal: Reversal, at_s: float) -> bool:
        if self._shows_open(reversal):
            return False
        moments = [fill.visible_at_s for fill in self.network.books.fills if fill.order_id in reversal.order_ids]
        moments += [reversal.accepted_at_s]
        return at_s - max(time_s for time_s in moments if time_s <= at_s) >= STEADY_S - 2.0

    def _shows_open(self, reversal: Reversal) -> bool:
        if any(shown is reversal for shown, _, _ in self.exchange.shown_pending()):
            return True
        shown_state = None if self.plan.core_only else self.exchange.shown_state(reversal)
        return shown_state is not None and shown_state[0] in OPEN_STATES

    def names_of(self, post: Post, at_s: float | None, *, inferred: bool) -> set[str]:
        """The names of what our order has done, at a time (with what lags) or in the end."""
        reversal, trail = self.reversal_of(post), self.trails.get(post.client_oid)
        strangers = self._others_traded_beside(post)
        names = set()
        if reversal is None and trail is not None and any(step.details.get("refused") for step in trail.steps):
            return {"not done"}
        if reversal is None:
            names.add("unchanged")
        else:
            first_s = _now_s() if at_s is None else at_s - self._lag_s - 8.0
            for state in reversal.past.between(first_s, _now_s()):
                names |= names_of_state(reversal, state)
                if inferred and self.plan.core_only and looks_whole(post, reversal, state):
                    names.add("reversed")
                if inferred and self._leaves_nothing(state):
                    names.add(NOT_AS_PREVIEWED)
            if reversal.matching.lies and at_s is not None:
                names |= {"closed only", "reversed", NOT_AS_PREVIEWED}
        if strangers:
            names.add(NOT_AS_PREVIEWED)
            if self.plan.core_only and inferred:
                names |= TAKEN_FOR_OURS
        return names

    def _others_traded_beside(self, post: Post) -> bool:
        """Whether anything but this order traded its symbol since just before it left."""
        reversal = self.reversal_of(post)
        return self._others_traded(
            post.symbol, post.departed_at_s, frozenset() if reversal is None else reversal.order_ids
        )

    def _others_traded(self, symbol: str, since_s: float, own: frozenset[str] = frozenset()) -> bool:
        since_s -= 5 + self._lag_s
        fills = self.network.books.fills
        return any(fill.symbol == symbol and fill.at_s >= since_s and fill.order_id not in own for fill in fills)

    @property
    def _lag_s(self) -> float:
        return max(self.plan.detail_lag_s, self.plan.position_lag_s, self.plan.fill_lag_s)

    # The end

    def has_inferred(self) -> bool:
        """Whether the end of any intent was inferred, so that a later fill corrects it."""
        return any(trail.steps[-1].details.get("inferred") for trail in self.trails.values())

    def judge_release_in_the_end(self, process_ready_since_s: float) -> None:
        """(e) What was acknowledged, or seen as open by a process that still runs, settles without the trader.

        A process that names the account otherwise has another journal, and follows nothing of this one.
        """
        for trail in self.trails.values():
            post = self.post_of(trail.intent)
            if trail.state not in LOCKING or trail.state == "intended" or post is None:
                continue
            same_names = [
                n for n, names in enumerate(self.plan.processes) if names == self.plan.processes[post.process]
            ]
            seen_at_s = max(self._seen_open_at_s.get((trail.intent, process), -1.0) for process in same_names)
            reversal = self.exchange.books.reversals.get(trail.intent)
            if self.plan.spelling.trade_side:
                continue  # nothing may rest on fills whose words nobody knows
            if reversal is None or reversal.past.now == OrderState("canceled"):
                continue  # an order that did nothing leaves nothing to be seen
            if self._leaves_nothing(reversal.past.now):
                continue
            if trail.last("acknowledged") is not None or seen_at_s > process_ready_since_s:
                self.breaks("e", f"{trail.intent} does not settle though the exchange has shown its order")

    def _leaves_nothing(self, state: OrderState) -> bool:
        """Whether the order with our id did nothing, and the one that traded has a source that cannot be read."""
        return self.plan.core_only and self.plan.id_on is IdOn.OPENING_ORDER and not state.opened

    def _lost_since(self, trail: IntentTrail) -> bool:
        """Whether the journal was lost after its last word on an intent, so that no later fill can correct it."""
        step = trail.steps[-1]
        lost_at_s = self._damaged_at_s.get(self.plan.processes[step.process].data_dir)
        return lost_at_s is not None and lost_at_s > step.at_s

    def judge_end(self) -> None:
        """(b) In the end the journal's last word of every intent is what its order did."""
        for trail in self.trails.values():
            post = self.post_of(trail.intent)
            if post is None:
                continue
            reversal = self.reversal_of(post)
            if trail.state in ("withdrawn", "rejected") and reversal is not None:
                self.breaks("b", f"in the end the journal says {trail.state} of {trail.intent}, which was taken")
            if trail.state == "settled" and not self._lost_since(trail):
                inferred = bool(trail.steps[-1].details.get("inferred"))
                names, outcome = self.names_of(post, None, inferred=inferred), trail.steps[-1].details.get("outcome")
                if outcome not in names:
                    self.breaks("b", f"in the end {trail.intent} is settled as {outcome}, and is {sorted(names)}")


def names_of_state(reversal: Reversal, state: OrderState) -> set[str]:
    """What an order's own fills amount to.

    Where a one-way reversal carried a size, the interface leaves open which result is the whole of it.
    """
    closed, opened, whole = state.closed, state.opened, reversal.to_close
    if not closed and not opened:
        return {"unchanged"}
    if closed == whole and opened == reversal.to_open:
        return {"reversed"}
    if reversal.has_size and not reversal.hedge:
        return {"closed only", "reversed smaller", "reversed larger", "remainder left", NOT_AS_PREVIEWED}
    if closed == whole and not opened:
        return {"closed only"}
    if closed == whole:
        return {"reversed smaller" if opened < reversal.to_open else "reversed larger"}
    return {NOT_AS_PREVIEWED if opened else "remainder left"}


def looks_alike(reversal: Reversal) -> bool:
    """Whether closing and opening cannot be told apart: one-way with a size, where the whole is left open."""
    return reversal.has_size and not reversal.hedge


def looks_whole(post: Post, reversal: Reversal, state: OrderState) -> bool:
    """Whether a part of a one-way reversal is as much as the size that was sent would trade.

    Where the order cannot be asked for, nothing tells that the exchange ignored the size and will go on.
    """
    size = post.body.get("size")
    return not reversal.hedge and size is not None and state.closed + state.opened == 2 * Decimal(size)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
