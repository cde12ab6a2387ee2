"""The key that unlocks trading, in the sentence that says that it is locked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tradetui.desk.intents.account_lock import SendsNothing
from tradetui.ui.key_bindings.binding_registry import key_named


def with_unlock_binding(reasons: Iterable[str], changed_keys: Mapping[str, str]) -> tuple[str, ...]:
    """Reasons why nothing is sent, with the key that unlocks; `changed_keys` are those of the profile."""
    unlocks = f"Trading is locked; {key_named('lock', changed_keys)} unlocks it."
    return tuple(unlocks if reason is SendsNothing.LOCKED else reason for reason in reasons)
