"""The scopes that open intents lock, as last read from the journals: for the screen and for an early refusal."""

from __future__ import annotations

from collections.abc import Mapping

from tradetui.desk.intents.states import ENDED, State


class OpenScopes:
    """Open intents by scope, those of this account's journal and those of journals in other directories."""

    def __init__(self) -> None:
        self._here: dict[str, tuple[str, State]] = {}
        self._elsewhere: dict[str, str] = {}

    def see(self, here: Mapping[str, tuple[str, State]], elsewhere: Mapping[str, str]) -> None:
        """Take over what was read: intent and state by scope, and what holds scopes in other directories, in words."""
        self._here, self._elsewhere = dict(here), dict(elsewhere)

    def began(self, scope: str, intent: str, state: State) -> None:
        self._here[scope] = (intent, state)

    def stepped(self, intent: str, state: State) -> None:
        """Take over an intent's new state; an end frees its scope."""
        for scope, (open_intent, _) in tuple(self._here.items()):
            if open_intent == intent and state in ENDED:
                del self._here[scope]
            elif open_intent == intent:
                self._here[scope] = (intent, state)

    def holder(self, scope: str) -> str | None:
        """The intent that locks a scope, as its id and state; None where none does."""
        holder = self._here.get(scope)
        return f"{holder[0]}, {holder[1]}" if holder is not None else self._elsewhere.get(scope)

    def ids(self) -> frozenset[str]:
        return frozenset(intent for intent, _ in self._here.values())

    def names(self) -> tuple[tuple[str, State | None], ...]:
        """The scopes of open intents, unknown outcomes first; the state is None for intents in other directories."""
        scopes: dict[str, State | None] = {scope: state for scope, (_, state) in self._here.items()}
        scopes = dict.fromkeys(self._elsewhere) | scopes
        most_urgent_first = sorted(scopes.items(), key=lambda named: (named[1] is not State.UNKNOWN, named[1] is None))
        return tuple((scope.rpartition("|")[2], state) for scope, state in most_urgent_first)

    def sentences(self) -> tuple[str, ...]:
        elsewhere = (f"{scope}: {holder}" for scope, holder in self._elsewhere.items() if scope not in self._here)
        return (*(f"{scope}: {intent}, {state}" for scope, (intent, state) in self._here.items()), *elsewhere)
