"""The filter of rows by a typed pattern: a regular expression or plain text, inverted by a leading `!`.

The main screen loads it before it is painted: it must load no model.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable


def matcher(pattern: str) -> Callable[[str], bool] | None:
    """A test of a line of text: a regular expression without case, `!` first inverts it.

    A pattern that is no regular expression is taken as plain text; an empty one is none.
    """
    inverted = pattern.startswith("!")
    expression_text = pattern[1:] if inverted else pattern
    if not expression_text:
        return None
    expression = _expression(expression_text)
    return lambda text: (expression.search(text) is None) == inverted


def _expression(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            # What may mean something else in a later Python is no business of who types a filter.
            warnings.simplefilter("ignore")
            return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(text), re.IGNORECASE)
