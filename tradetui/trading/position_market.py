"""What somebody read of the market for a position: its nearest stop, and what the next funding costs."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple


class StopState(StrEnum):
    """What is known of the stop-losses of a position."""

    NOT_READ = "not read"
    UNREADABLE = "unreadable"
    NONE = "none"
    TRAILING = "trailing"
    WAITING = "waiting"


class PositionMarket(NamedTuple):
    """What is known of a position beside what is held.

    `stop` is the trigger price of the stop-loss that fires first, where one waits; a trailing stop alone has none.
    `mark_is_live` says that the position's mark is the market's, and not the last fill's price.
    `funding_rate` is the part of the value that a LONG pays at `next_funding`.
    """

    stop_state: StopState = StopState.NOT_READ
    stop: Decimal | None = None
    funding_rate: Decimal | None = None
    next_funding: datetime | None = None
    mark_is_live: bool = False


NO_MARKET: Final = PositionMarket()
