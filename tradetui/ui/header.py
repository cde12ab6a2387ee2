"""The header bar: whose money, what may be done, what it is worth, and how the link is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from tradetui.desk.columns import UNKNOWN, number, percent
from tradetui.wire.scrub import scrub

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk

QUIET_SECONDS = 5.0
_ENVIRONMENT = {"SANDBOX": "black on $accent", "DEMO": "black on $warn", "LIVE": "bold white on $error"}
_ACCESS = {"TRADE": "black on $success", "LOCKED": "black on $warn", "MONITOR": "black on $primary"}


class HeaderBar(Static):
    """One line; what merely fluctuates is repainted every few seconds, what matters at once."""

    def __init__(self, environment: str, access: str, account: str) -> None:
        self._badges = (environment, access, account)
        super().__init__(self._content("", ""), id="header", markup=False)
        self._urgent: tuple[object, ...] = ()
        self._shown = ""
        self._painted_at = -QUIET_SECONDS

    def show(self, desk: Desk, now: float) -> None:
        """Bring the line up to date."""
        settings, link, totals = desk.settings, desk.link, desk.totals()
        offset = link.clock_offset_ms
        urgent = (settings.environment, desk.access, link.down, link.clock_warns, link.clock_blocks)
        worth = (
            f"equity {number(totals.equity, places=2)} USDT  "
            f"uPnL {number(totals.unrealised, signed=True, places=2)}  risk {percent(totals.worst_margin_ratio)}"
        )
        latency = UNKNOWN if link.latency_ms is None else f"{link.latency_ms:.0f} ms"
        clock = UNKNOWN if offset is None else f"{offset:+d} ms"
        usage = link.usage().values()
        fullest = max((use.used / use.allowed for use in usage if use.allowed), default=0.0)
        halved = " halved" if any(use.halved for use in usage) else ""
        state = "DOWN" if link.down else "up"
        line = f"link {state} {latency}  clock {clock}{' !' if link.clock_warns else ''}  budget {fullest:.0%}{halved}"
        if urgent == self._urgent and (now - self._painted_at < QUIET_SECONDS or (worth + line) == self._shown):
            return
        self._urgent, self._shown, self._painted_at = urgent, worth + line, now
        self._badges = (str(settings.environment), str(desk.access), scrub(settings.name))
        self.update(self._content(worth, line), layout=False)

    def _content(self, worth: str, line: str) -> Content:
        environment, access, account = self._badges
        parts = [
            Content.styled(f" {environment} ", _ENVIRONMENT[environment]),
            Content(" "),
            Content.styled(f" {access} ", _ACCESS[access]),
            Content(f"  {account}  {worth}  "),
            Content.styled(line, "$quiet" if "DOWN" not in line else "bold $error"),
        ]
        return Content("").join(parts)
