"""How long the store was away, and whether another machine may still find that it came back as an older copy."""

from __future__ import annotations

from typing import Final

OTHERS_LOOK_S: Final = 8.0
"""After the store was away every machine that runs has looked at it again so soon, and has objected to an older copy.

This is a try to connect that fails at two addresses, the longest pause before the next one, and a look. Nobody waits
longer than until every other machine of the account has said that it is level with this store. Who is alone there does
not wait: an older copy that does not know a machine does not let it object either.
"""


class StoreAbsence:
    """The last time for which a session could not read the store; at its start it has not read it yet.

    All moments are in monotonic seconds. `sentence` says how long it was away, and is empty if it never was.
    """

    def __init__(self) -> None:
        self.sentence = ""
        self._away_since_s: float | None = None
        self._back_since_s: float | None = None
        self._others_are_level = False

    def lost(self, now_s: float) -> None:
        """The store cannot be read any more, and what comes back may be an older copy."""
        if self._back_since_s is not None:
            self._away_since_s = now_s
        self._back_since_s, self._others_are_level = None, False

    def read(self, called_s: float, others_level_s: float) -> None:
        """A call made at `called_s` has read the store; `others_level_s` is as in `AccountState`."""
        if self._back_since_s is None:
            self._back_since_s = called_s
        self._others_are_level |= others_level_s <= called_s - self._back_since_s

    def others_look_s(self, now_s: float) -> float:
        """For how many seconds other machines may still object."""
        if self._others_are_level:
            return 0.0
        return OTHERS_LOOK_S if self._back_since_s is None else max(0.0, self._back_since_s + OTHERS_LOOK_S - now_s)

    def compared(self) -> None:
        """This machine's journal was compared with the store that came back."""
        if self._away_since_s is not None and self._back_since_s is not None:
            self.sentence = f"The store was away for {self._back_since_s - self._away_since_s:.0f} s and is compared."
            self._away_since_s = None
