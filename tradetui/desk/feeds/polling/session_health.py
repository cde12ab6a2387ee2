"""The health of a session: the state of its connection and feeds, in one word and a sentence."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.desk.feeds.polling.feed import Feed
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.desk.tables.table import PANELS
from tradetui.exchange.connection_status import ConnectionStatus


class LinkState(StrEnum):
    """Whether the exchange answers calls, and how well."""

    STARTING = "starting"
    CONNECTED = "connected"
    DEGRADED = "degraded"
    REFUSED = "refused"
    DOWN = "down"


LOST_LINKS: Final = {LinkState.DOWN: "Link lost", LinkState.REFUSED: "Calls refused"}
"""The states in which nothing is read, with their names in alerts."""
LINK_BACK: Final = "Link back: the exchange answers again"


class Health(NamedTuple):
    """State, the sentence to show (empty while all is well) and what to do about it.

    `of_account` is set if the exchange refuses the whole account: then sentence and remedy are shown once for all
    feeds.
    """

    state: LinkState
    sentence: str = ""
    remedy: str = ""
    of_account: bool = False


SILENT_S: Final = 3.0
"""One lost reply does not mean a lost link; silence for this long does."""


def health_of(link: ConnectionStatus, feeds: Collection[Feed[FeedRow]], now: float) -> Health:
    """Return the health of a session; `now` is monotonic seconds.

    It is down if nothing gets through, and refused if the exchange refuses every call. It is degraded if some feeds
    fail, or the clock or the budget is off.
    """
    errors = [feed.snapshot.error for feed in feeds if feed.snapshot.error is not None]
    if (of_account := next((error for error in errors if error.of_account), None)) is not None:
        return Health(LinkState.REFUSED, of_account.sentence, of_account.remedy, of_account=True)
    troubled = {feed.name: feed.snapshot.error for feed in feeds if feed.snapshot.error is not None and feed.failures}
    if troubled:
        first = next(iter(troubled.values()))
        silent = link.down and now - (link.last_reply_at or 0.0) > SILENT_S
        if silent or len(troubled) == len(feeds):
            refused = not silent and all(error.code is not None for error in troubled.values())
            return Health(LinkState.REFUSED if refused else LinkState.DOWN, first.sentence, first.remedy)
        if link.last_reply_at is not None:
            panels = ", ".join(PANELS[name].label if name in PANELS else name for name in troubled)
            return Health(LinkState.DEGRADED, f"{panels}: {first.sentence}", first.remedy)
    return _of_link(link)


def _of_link(link: ConnectionStatus) -> Health:
    """Return the state of clock and budget when the feeds read all their rows."""
    if link.last_reply_at is None:
        return Health(LinkState.STARTING)
    if link.server_clock.warns:
        offset = link.server_clock.offset_ms or 0
        way = "behind" if offset > 0 else "ahead of"
        return Health(
            LinkState.DEGRADED,
            f"This machine's clock is {abs(offset) / 1000:.1f} s {way} the exchange's",
            "Set the clock; above 5 s nothing is sent.",
        )
    address = link.budget.address_usage()
    if address.slowed:
        return Health(
            LinkState.DEGRADED,
            f"This machine makes {address.used:,} of its {address.allowed:,} calls a minute; panels update less often",
            "End other sessions on this exchange; raise address_share if nobody else calls from this network address.",
        )
    if any(usage.halved for usage in link.budget.usage().values()):
        return Health(
            LinkState.DEGRADED,
            "The exchange reported too many calls: some panels are read less often",
            "This ends by itself; lower budget_share if other programs use this account.",
        )
    return Health(LinkState.CONNECTED)
