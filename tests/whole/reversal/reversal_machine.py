"""What may happen around reversals, in any order, for hypothesis to find the order that breaks a promise."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.whole.reversal.reversal_play import Play

WHO = st.integers(0, 1)
READS = ("futures.positions", "futures.fills", "futures.order_detail", None)
WEATHER = ("dropped-before", "dropped-after", "5xx", "non-json", "truncated", "wrong-types", "delay", "429")
LOST = ("dropped-before", "dropped-after", "5xx")
OTHERWISE = ("reverse-smaller", "closed-only", "remainder", "larger", "unchanged", "liquidated", "other")

occurrences: Counter[str] = Counter()
"""What came to pass in all runs, to know that they were not empty."""


class ReversalMachine(RuleBasedStateMachine):
    """A trader at two terminals, others on the account, the market, the network, the exchange, and the power."""

    def __init__(self) -> None:
        super().__init__()
        self.play: Play | None = None

    @initialize(mode=st.sampled_from(("hedge", "one-way")), core_only=st.sampled_from((False, False, True)))
    def begin(self, mode: str, core_only: bool) -> None:
        self.play = Play(mode, core_only=core_only)

    @property
    def on(self) -> Play:
        assert self.play is not None
        return self.play

    @rule(who=WHO, long=st.booleans(), size=st.sampled_from((None, None, Decimal("0.5"))))
    def preview(self, who: int, long: bool, size: Decimal | None) -> None:
        self.on.previews(who, long, size)

    @rule(who=WHO, seconds=st.sampled_from((0.0, 0.3, 0.9, 3.0)))
    def confirm(self, who: int, seconds: float) -> None:
        self.on.confirms(who)
        self.on.passes(seconds)

    @rule(who=WHO, seconds=st.sampled_from((0.0, 0.3, 0.9, 3.0)), lost=st.sampled_from((None, None, *LOST)))
    def reverse(self, who: int, seconds: float, lost: str | None) -> None:
        self.on.locks(who, False)
        self.on.previews(who, True, None)
        if lost is not None:
            self.on.fails(lost, "futures.reverse", 1)
        self.on.confirms(who)
        self.on.passes(seconds)

    @rule(who=WHO, kind=st.sampled_from(LOST), then=st.sampled_from(("nothing", "crash", "release")))
    def reply_is_lost(self, who: int, kind: str, then: str) -> None:
        self.reverse(who, 3.0, kind)
        if then == "crash":
            self.on.crashes(who)
        if then == "release":
            self.on.releases(1 - who)

    @rule(gap=st.sampled_from((0.0, 0.2, 0.4, 0.6, 0.8)))
    def confirm_at_both(self, gap: float) -> None:
        for who in (0, 1):
            self.on.locks(who, False)
            self.on.previews(who, True, None)
        self.on.confirms(0)
        self.on.passes(gap)
        self.on.confirms(1)
        self.on.passes(2.0)

    @rule(who=WHO)
    def press_enter_twice(self, who: int) -> None:
        self.on.previews(who, True, None)
        self.on.confirms(who)
        self.on.confirms(who)

    @rule(who=WHO)
    def lock(self, who: int) -> None:
        self.on.locks(who, True)

    @rule(who=WHO, other=st.booleans())
    def lock_between_preview_and_confirm(self, who: int, other: bool) -> None:
        self.on.locks(who, False)
        self.on.previews(who, True, None)
        self.on.locks(1 - who if other else who, True)
        self.on.confirms(who)
        self.on.passes(2.0)

    @rule(who=WHO)
    def unlock(self, who: int) -> None:
        self.on.locks(who, False)

    @rule(who=WHO)
    def release(self, who: int) -> None:
        self.on.releases(who)

    @rule(who=WHO)
    def crash(self, who: int) -> None:
        self.on.crashes(who)

    @rule(seconds=st.sampled_from((0.1, 1.0, 5.0, 12.0, 40.0)))
    def wait(self, seconds: float) -> None:
        self.on.passes(seconds)

    @rule(long=st.booleans(), size=st.sampled_from((Decimal("0.037"), Decimal("1.111"))))
    def somebody_else_trades(self, long: bool, size: Decimal) -> None:
        self.on.trades(long, size)

    @rule()
    def liquidation(self) -> None:
        self.on.closes()
        self.on.trades(True, Decimal(2))

    @rule(percent=st.sampled_from((-2, 1)))
    def price(self, percent: int) -> None:
        self.on.moves(percent)

    @rule(kind=st.sampled_from(WEATHER))
    def bad_order_reply(self, kind: str) -> None:
        self.on.fails(kind, "futures.reverse", 1)

    @rule(kind=st.sampled_from(WEATHER), endpoint=st.sampled_from(READS), times=st.integers(1, 12))
    def bad_reads(self, kind: str, endpoint: str | None, times: int) -> None:
        self.on.fails(kind, endpoint, times)

    @rule(kind=st.sampled_from(OTHERWISE))
    def done_otherwise(self, kind: str) -> None:
        self.on.fails(kind, "futures.reverse", 1)

    @rule(seconds=st.sampled_from((2.0, 11.0, 24.0)))
    def order_under_way(self, seconds: float) -> None:
        self.on.slow_post(seconds)

    @rule()
    def monitor(self) -> None:
        self.on.monitors()

    def teardown(self) -> None:
        if self.play is None:
            return
        try:
            self.play.end()
        finally:
            occurrences.update(self.play.notes)
            self.play.close()
