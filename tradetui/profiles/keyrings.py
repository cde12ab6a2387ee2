"""The system's keyring: texts under a service and a user name, and what to do where it is missing or locked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from tradetui.profiles.errors import ConfigurationError


def from_keyring(service: str, user: str) -> str | None:
    """The text kept under this name, None where there is none; raises ConfigurationError."""
    with _keyring(service) as keyring:
        text: str | None = keyring.get_password(service, user)
        return text


def into_keyring(service: str, user: str, text: str) -> None:
    """Keep a text under this name, replacing what was there; raises ConfigurationError."""
    with _keyring(service) as keyring:
        keyring.set_password(service, user, text)


def out_of_keyring(service: str, user: str) -> None:
    """Forget what is kept under this name, if anything is; raises ConfigurationError."""
    with _keyring(service) as keyring:
        if keyring.get_password(service, user) is not None:
            keyring.delete_password(service, user)


@contextmanager
def _keyring(service: str) -> Iterator[ModuleType]:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise ConfigurationError(
            "needs the keyring package",
            location=f"keyring {service}",
            key="credentials.source",
            remedy="Install tradetui with its extra: pip install 'tradetui[keyring]'.",
        ) from None
    try:
        yield keyring
    except keyring.errors.KeyringError:
        raise ConfigurationError(
            "the system's keyring is not available or locked",
            location=f"keyring {service}",
            key="credentials.source",
            remedy="Unlock it, or use a file of mode 0600.",
        ) from None
