"""What fills do to what is held of a symbol."""

from __future__ import annotations

from collections.abc import Iterable

from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.positions import LONG, leg_of
from tradetui.wire.models.futures import FuturesFill


def holdings_after(before: Holdings, fills: Iterable[FuturesFill]) -> Holdings | None:
    """What is held after these fills of one symbol, in any order; None where a word of one of them is not known."""
    holdings = before
    for fill in fills:
        if fill.unknown_word:
            return None
        if isinstance(holdings, Net):
            holdings = Net(holdings.net + (fill.base_volume if fill.is_buy else -fill.base_volume))
            continue
        leg, opens = leg_of(fill)
        size = fill.base_volume if opens else -fill.base_volume
        holdings = holdings.moved(long=size) if leg is LONG else holdings.moved(short=size)
    assert isinstance(holdings, Legs | Net)
    return holdings
