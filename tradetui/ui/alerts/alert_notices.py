"""How a session shows its alerts: the bell, the line above the keys, and a message beside a dialog."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen

from tradetui.desk.alerts.alert_event import Alert
from tradetui.desk.alerts.rules import Channel, DesktopSequence, RuleKind
from tradetui.ui.alerts.desktop_notification import notification
from tradetui.ui.app_protocols import KeyedScreen
from tradetui.ui.safe_text import notify

RINGS_EVERY_S = 5.0
_STAYS_S = 600.0
_SHOWN_S = 8.0


class AlertNotices:
    """Rings and shows the alerts that the rules send to bell, line and desktop."""

    def __init__(self, app: App[object], *, sequence: DesktopSequence | None, environ: Mapping[str, str]) -> None:
        """`sequence` is the profile's way to notify through the terminal, None for the terminal's own."""
        self._app = app
        self._rung_at: float | None = None
        self._sequence = sequence
        self._environ = environ

    def show(self, alert: Alert, now: float) -> None:
        """Ring and show; `now` is monotonic seconds. Beside a dialog it also shows a message, but not of the market."""
        # Behind a dialog the screen's own line is still there.
        screen = next(screen for screen in reversed(self._app.screen_stack) if not isinstance(screen, ModalScreen))
        if isinstance(screen, KeyedScreen):
            screen.show_alert()
        beside_dialog = screen is not self._app.screen
        of_a_market = alert.event.kinds <= {RuleKind.FILL, RuleKind.ORDER_GONE}
        if Channel.BELL in alert.channels and self.may_ring(now, at_once=not of_a_market):
            self._app.bell()
        if Channel.LINE not in alert.channels:
            return
        if alert.event.stays:
            notify(self._app, alert.sentence, severity="error", seconds=_STAYS_S)
        elif beside_dialog and not of_a_market:
            severity: SeverityLevel = "warning" if alert.event.alarm else "information"
            notify(self._app, alert.sentence, severity=severity, seconds=_SHOWN_S)

    def may_ring(self, now: float, *, at_once: bool) -> bool:
        """Whether to ring now, which counts as rung: once for what comes together, so that no busy market rings on."""
        if not at_once and self._rung_at is not None and now - self._rung_at < RINGS_EVERY_S:
            return False
        self._rung_at = now
        return True

    def show_on_desktop(self, sentence: str) -> None:
        driver = self._app._driver
        if driver is not None:
            driver.write(notification(sentence, self._sequence, self._environ))

    def say_failure(self, sentence: str) -> None:
        notify(self._app, sentence, severity="error", seconds=_SHOWN_S)
