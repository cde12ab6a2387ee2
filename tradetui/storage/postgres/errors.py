"""How a call to the store fails. This module needs no psycopg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class StoreAway(Exception):
    """The store gave no answer, so it is not known whether the call was carried out; `reason` is a clause."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StoreRefused(Exception):
    """The store refused the call, and nothing was changed.

    `code` is one of the schema's own, TT001 to TT008, or the server's SQLSTATE; `detail` is what the code comes with.
    """

    def __init__(self, code: str, message: str, detail: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = dict(detail)


def grant(person: str, role: str = "trader") -> str:
    """Return the SQL by which the owner of the store gives a person a role."""
    name = person.replace('"', '""')
    return f'GRANT tradetui_{role} TO "{name}"'


class WrongStoreSetting(ValueError):
    """The setting `store` cannot be used; the message says which rule it breaks, `remedy` what to write instead."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy
