"""Keeps what is typed out of Textual's logs: its debug log holds every key, those of a passphrase among them."""

from __future__ import annotations

import os
from typing import Final

from textual import constants

_WRITES_KEYS: Final = frozenset({"debug", "devtools"})
"""Features of Textual, named in the variable TEXTUAL, that hand every event to a log or to another program."""


def silence_textual_log() -> None:
    """Switch off TEXTUAL_LOG, TEXTUAL_DEBUG (which writes `keys.log`) and the debug features of TEXTUAL.

    Call it before an application is made: an application reads TEXTUAL once.
    """
    for name in ("TEXTUAL_LOG", "TEXTUAL_DEBUG"):
        os.environ.pop(name, None)
    features = [feature.strip().lower() for feature in os.environ.get("TEXTUAL", "").split(",")]
    if _WRITES_KEYS & set(features):
        os.environ["TEXTUAL"] = ",".join(feature for feature in features if feature not in _WRITES_KEYS)
    # Read from the environment when Textual was imported, which is too early to be kept from it.
    constants.LOG_FILE = None  # type: ignore[misc]
    constants.DEBUG = False  # type: ignore[misc]
