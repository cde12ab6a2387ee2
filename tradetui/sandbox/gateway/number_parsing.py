"""Numbers in requests: plain digits and nothing else, of a length that costs nothing to read."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_WHOLE: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_AMOUNT: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


def whole_number(text: str) -> int | None:
    """A whole number of at most nineteen digits, as ids and times are; None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None


def positive_amount(text: str) -> Decimal | None:
    """A size or price above nothing, without sign or exponent; None for anything else."""
    value = Decimal(text) if _AMOUNT.fullmatch(text) else None
    return value if value else None
