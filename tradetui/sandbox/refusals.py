"""A refusal: what the exchange answers instead of data."""

from __future__ import annotations


class Refusal(Exception):
    """An answer with a code other than success; `http_status` is the reply's."""

    def __init__(self, code: str, message: str, http_status: int = 400) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.http_status = http_status
