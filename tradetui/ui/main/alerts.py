"""What rings the bell, and what of it is said in a corner."""

from __future__ import annotations

from textual.app import App

from tradetui.desk.alerts import Alert, AlertKind
from tradetui.ui.sanitize import notify

AT_MOST_EVERY_S = 5.0


class Bell:
    """Rings once for whatever comes together, so that a busy market does not ring without end."""

    def __init__(self) -> None:
        self._rang_at: float | None = None

    def rings(self, now: float, *, at_once: bool) -> bool:
        """Whether to ring now; what is `at_once` always does."""
        if not at_once and self._rang_at is not None and now - self._rang_at < AT_MOST_EVERY_S:
            return False
        self._rang_at = now
        return True


class AlertNotices:
    """Rings for every alert of a session where the profile wants the bell.

    What concerns every panel is also said: the link, and a reversal that nobody waits for any more.
    """

    def __init__(self, app: App[object], *, rings: bool) -> None:
        self._app = app
        self._bell = Bell() if rings else None

    def tell(self, alert: Alert, now: float) -> None:
        """Ring and say it; `now` is monotonic, in seconds."""
        of_a_panel = alert.kind in (AlertKind.FILL, AlertKind.TRIGGER)
        bell = self._bell if alert.kind is not AlertKind.LINK_BACK else None
        if bell is not None and bell.rings(now, at_once=not of_a_panel):
            self._app.bell()
        match alert.kind:
            case AlertKind.LINK_LOST:
                notify(self._app, alert.sentence, severity="warning")
            case AlertKind.LINK_BACK:
                notify(self._app, alert.sentence)
            case AlertKind.REVERSAL:
                notify(self._app, alert.sentence, severity="error", seconds=600)
