"""How a session shows its alerts: the bell, the line above the keys, and a message beside a dialog.

A desktop notification through the terminal, by an escape sequence. It loads no Textual: `doctor` sends one too.

OSC 9 is iTerm2's, OSC 777 urxvt's; most terminals that notify know one of the two. A BEL follows, which marks the
window where the terminal knows neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen

from tradetui.desk.events.rules import Alert, Channel, DesktopSequence, RuleKind
from tradetui.ui.app_protocols import KeyedScreen
from tradetui.ui.safe_text import notify, notify_about
from tradetui.wire.text import scrub

TITLE: Final = "tradetui"
_BEL: Final = "\a"
_ESC: Final = "\x1b"


def own_sequence(environ: Mapping[str, str]) -> DesktopSequence:
    """Return the sequence that the environment's terminal knows; OSC 9 if it does not tell."""
    if environ.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "ghostty") or environ.get("LC_TERMINAL") == "iTerm2":
        return DesktopSequence.OSC_9
    if environ.get("KITTY_WINDOW_ID") or environ.get("WT_SESSION"):
        return DesktopSequence.OSC_9
    is_foot_or_rxvt = environ.get("TERM", "").startswith(("foot", "rxvt"))
    knows_777 = is_foot_or_rxvt or environ.get("VTE_VERSION") or environ.get("KONSOLE_VERSION")
    return DesktopSequence.OSC_777 if knows_777 else DesktopSequence.OSC_9


def in_tmux(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is a pane of tmux, which passes such a sequence on only in an envelope."""
    return bool(environ.get("TMUX"))


def notification(sentence: str, sequence: DesktopSequence | None, environ: Mapping[str, str]) -> str:
    """The escape sequence of a notification of one sentence, free of other control characters.

    `sequence` is the profile's choice, None for the one that the terminal in `environ` knows.
    """
    # Semicolons separate the fields of both sequences, and OSC 9 followed by a number means something else to
    # some terminals.
    text = f"{TITLE}: {scrub(sentence)}".replace(";", ",")
    if (sequence or own_sequence(environ)) is DesktopSequence.OSC_777:
        body = text.removeprefix(f"{TITLE}: ")
        request = f"{_ESC}]777;notify;{TITLE};{body}{_BEL}"
    else:
        request = f"{_ESC}]9;{text}{_BEL}"
    if in_tmux(environ):
        request = f"{_ESC}Ptmux;{request.replace(_ESC, _ESC * 2)}{_ESC}\\"
    return f"{request}{_BEL}"


RINGS_EVERY_S = 5.0
_STAYS_S = 600.0
_SHOWN_S = 8.0


class AlertNotices:
    """Rings and shows the alerts that the rules send to bell, line and desktop."""

    def __init__(self, app: App[object], sequence: DesktopSequence | None, environ: Mapping[str, str]) -> None:
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
        say = partial(notify, self._app)
        if RuleKind.OUTCOME_UNKNOWN in alert.event.kinds and not alert.test:
            say = partial(notify_about, self._app, alert.event.symbol, was_sent=True)
        if alert.event.stays:
            say(alert.sentence, severity="error", seconds=_STAYS_S)
        elif beside_dialog and not of_a_market:
            say(alert.sentence, severity="warning" if alert.event.alarm else "information", seconds=_SHOWN_S)

    def show_of_row(self, alert: Alert, now: float) -> None:
        """Ring for an account of the overview and show its sentence, which names it, whatever screen is open."""
        if Channel.BELL in alert.channels and self.may_ring(now, at_once=True):
            self._app.bell()
        if Channel.LINE in alert.channels:
            severity: SeverityLevel = "error" if alert.event.alarm else "information"
            seconds = _STAYS_S if alert.event.stays else _SHOWN_S
            notify(self._app, alert.sentence, severity=severity, seconds=seconds)

    def may_ring(self, now: float, *, at_once: bool) -> bool:
        """Return whether to ring now, and count it as rung: alerts that come together ring once."""
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
