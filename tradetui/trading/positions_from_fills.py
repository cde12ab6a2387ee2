"""Positions summed from fills, for accounts whose positions the exchange does not report.

A `PositionBook` takes the fills of a product type one by one: each opens or closes, and changes average entry and
realised profit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import islice

from tradetui.trading.contract_math import ZERO
from tradetui.trading.fill_terms import FillTerms, terms_of
from tradetui.trading.holdings import HeldLeg, Holdings, Net
from tradetui.trading.positions import LONG, SHORT, FromFills, Position, with_mark
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType, margin_coin

IDS_KEPT = 20_000
"""Number of fills whose repetitions are recognised by id; only the newest can come again."""


@dataclass(slots=True)
class _SummedLeg(HeldLeg):
    realised: Decimal = ZERO


@dataclass(slots=True)
class _Symbol:
    legs: dict[PositionSide, _SummedLeg] = field(
        default_factory=lambda: {LONG: _SummedLeg(long=True), SHORT: _SummedLeg(long=False)}
    )
    opens_missing: bool = False
    unknown_word: str = ""
    last_price: Decimal | None = None


class PositionBook:
    """Positions of one product type, summed by adding fills oldest first; each costs the same at any length.

    Fills before `known_from` (Unix ms) are left out: lost later fills may have closed what they opened. A change of
    position mode between two fills proves that nothing was held, because the exchange refuses the switch while anything
    is held (code 40920). Marks are the last fill's price.
    """

    def __init__(self, product_type: ProductType, known_from: int = 0) -> None:
        self.product_type = product_type
        self.mode: PositionMode | None = None
        self._known_from = known_from
        self._since: datetime | None = None
        self._proven = False
        self._symbols: defaultdict[str, _Symbol] = defaultdict(_Symbol)
        self._effects: dict[str, int] = {}  # hashes of effects: the tuples of so many fills would take megabytes
        self._newest: datetime | None = None
        self.outdated = False
        """Whether a fill came after a newer one, or again with other figures."""

    def add(self, fill: FuturesFill) -> None:
        """Add one fill; a known one changes nothing.

        A fill older than an added one invalidates averages and proofs, and the earlier figures of a repeated fill are
        already summed. So the book marks itself outdated, and has to be built again.
        """
        if self._known_from and unix_ms(fill.c_time) < self._known_from:
            return
        effect = hash(fill.effect_key)
        fill_id = fill.row_id
        if (known_effect := self._effects.get(fill_id)) is not None:
            self.outdated = self.outdated or known_effect != effect
            return
        if self._newest is not None and fill.c_time < self._newest:
            self.outdated = True
        self._newest = fill.c_time
        self._effects[fill_id] = effect
        if len(self._effects) > IDS_KEPT:
            # Memory does not grow with history; a fill this old that came again would be out of order.
            for old in list(islice(self._effects, IDS_KEPT // 2)):
                del self._effects[old]
        self._since = self._since or fill.c_time
        terms = terms_of(fill)
        if terms.mode is not None and self.mode is not None and terms.mode is not self.mode:
            self._symbols.clear()
            self._proven, self._since = True, fill.c_time
        self.mode = terms.mode or self.mode
        # A fill that does not show its mode has the mode of the one before.
        self._apply(fill, terms if terms.mode is not None else terms_of(fill, self.mode))

    @property
    def unknown_word_by_symbol(self) -> dict[str, str]:
        """By symbol, an unknown term of its fills: its position is not the sum of the others."""
        return {symbol: state.unknown_word for symbol, state in self._symbols.items() if state.unknown_word}

    def positions(self) -> list[Position]:
        positions = []
        for symbol, state in self._symbols.items():
            source = FromFills(self._since, self._proven, state.opens_missing, state.unknown_word)
            for name, leg in state.legs.items():
                if leg.size > ZERO:
                    position = Position(
                        product_type=self.product_type,
                        symbol=symbol,
                        leg=name,
                        size=leg.size,
                        mode=self.mode,
                        source=source,
                        entry=leg.entry,
                        realised=leg.realised,
                        margin_coin=margin_coin(self.product_type, symbol),
                    )
                    positions.append(with_mark(position, state.last_price))
        return positions

    def _apply(self, fill: FuturesFill, terms: FillTerms) -> None:
        state = self._symbols[fill.symbol.upper()]
        state.last_price = fill.price
        effect, size = terms.effect, fill.base_volume
        if effect is None:
            state.unknown_word = terms.unknown_word
            return
        only_closes = effect.opens is False
        if not effect.opens:
            leg = state.legs[effect.closed_leg]
            closing = min(size, leg.size)
            size -= closing
            if closing or only_closes:
                leg.realised += (
                    leg.profit_of(self.product_type, closing, fill.price) if fill.profit is None else fill.profit
                )
                leg.close(closing)
            if size and (only_closes or (fill.profit and not closing)):
                state.opens_missing = True  # it closed a size opened before the known fills
        if size and not only_closes:
            state.legs[LONG if terms.buys else SHORT].open(size, size * fill.price)


def holdings_after(before: Holdings, fills: Iterable[FuturesFill]) -> Holdings | None:
    """Return the holdings after these fills of one symbol, in any order; None if a term of a fill is not known."""
    mode, holdings = PositionMode.ONE_WAY if isinstance(before, Net) else PositionMode.HEDGE, before
    for fill in fills:
        effect = terms_of(fill, mode).effect
        if effect is None:
            return None
        holdings = holdings.moved(effect.closed_leg, fill.base_volume if effect.opens else -fill.base_volume)
    return holdings
