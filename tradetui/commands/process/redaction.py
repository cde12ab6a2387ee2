"""The secrets of this process, so that no log line can hold one, whatever put it there."""

from __future__ import annotations

from typing import Final

_SHORTEST: Final = 4
"""Characters below which a text would be found in words that are no secret."""
_secrets: set[str] = set()


def hide_in_log(*secrets: str) -> None:
    """Have these texts, and each line of one that has several, redacted from now on."""
    for secret in secrets:
        _secrets.update(part for part in (secret, *secret.splitlines()) if len(part) >= _SHORTEST)


def redacted(text: str) -> str:
    """The text with `***` where a secret stood."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
