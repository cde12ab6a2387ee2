"""The refusal of a request, in place of data."""

from __future__ import annotations

from typing import Final


class Refusal(Exception):
    """A reply with an error code; `http_status` is the reply's."""

    def __init__(self, code: str, message: str, http_status: int = 400) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.http_status = http_status


# The embedded exchange's own codes, since the live ones are not published; the messages are the interface's.
OLD_COPY_MODEL: Final = ("31901", "This interface is only applicable to the new Copy model")
COPY_KEY_EXISTS: Final = ("31902", "You have already created a Copy API Key.")
