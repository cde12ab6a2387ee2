"""The list of profiles, each with host, UID and mode, and the account that is picked from it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tradetui.desk.settings import Access
from tradetui.ui.app_protocol import trading_app
from tradetui.ui.dialogs.profiles import ProfileDialog
from tradetui.ui.settings import KEY_READS_ONLY, ProfileSummary

if TYPE_CHECKING:
    from textual.screen import Screen

    from tradetui.desk.desk import Desk
    from tradetui.ui.settings import ProfileChoice, UiSettings

SUMMARY_S: Final = 0.8
"""How long the configuration of a profile may take to be read for the list of profiles."""
_MODES: Final = {Access.MONITOR: "monitor", Access.KEY_READS_ONLY: KEY_READS_ONLY}


async def ask_for_profile(screen: Screen[None], settings: UiSettings) -> None:
    """Show the list over a screen, and open what is picked."""
    app, profiles = trading_app(screen), settings.profiles
    summaries = await asyncio.gather(
        *(_summary(profile, app.desk, inline=settings.inline_start) for profile in profiles)
    )

    def pick(index: int | None) -> None:
        if index is not None and (index != app.chosen or app.desk is None):
            app.open_profile(index)

    names = [profile.name for profile in profiles]
    screen.app.push_screen(ProfileDialog(names, summaries, app.chosen, is_open=app.desk is not None), pick)


async def _summary(profile: ProfileChoice, desk: Desk | None, *, inline: bool) -> ProfileSummary:
    """The line of a profile in the list; what is open says itself who it is."""
    if inline:
        summary = profile.summary()
    else:
        try:
            async with asyncio.timeout(SUMMARY_S):
                summary = await asyncio.to_thread(profile.summary)
        except TimeoutError:
            return ProfileSummary(trouble="its configuration could not be read in time")
    if desk is None or desk.settings.name != profile.name:
        return summary
    uid = desk.account.uid if desk.account is not None else None
    mode = _MODES.get(desk.access, "trade")
    return replace(summary, uid=uid or summary.uid, mode=mode, trouble="")
