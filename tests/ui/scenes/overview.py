"""The overview of several accounts at three sizes: who needs a person, the sums, and what one account holds."""

from __future__ import annotations

from typing import Any

from tests.ui.fixtures.overview_on_sandbox import AppWithOverview
from tests.ui.scenes.plays import stop_market
from tests.ui.scenes.scene import Scene
from tradetui.desk.overview.watched_account import Kept


class _AppInNeed(AppWithOverview):
    """One of its accounts has an outcome that is not known."""

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept["4100000003"] = Kept(("BTCUSD",))


_SHOWS = ("OUTCOME?", "hedge", "SANDBOX 7 of 7 accounts")
_wide = Scene((200, 60), (*_SHOWS, "UNKNOWN OUTCOME: BTCUSD"), stop_market, stage=_AppInNeed, published=True)
_middle = _wide.then(_SHOWS, size=(120, 36))

SCENES = {
    "overview-200x60": _wide,
    "overview-120x36": _middle,
    "overview-80x24": _middle.then(_SHOWS[:2], size=(80, 24)),
}
