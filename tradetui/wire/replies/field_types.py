"""Types of reply fields as pydantic reads them at full speed; what they refuse is read again with care."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, get_args

from pydantic import AwareDatetime, Field
from pydantic.fields import FieldInfo

# "0" and "-1" mean "not set" in some time fields; so early a time is refused here and settled by the careful reading.
_FIRST_MOMENT: Final = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)

# Times after this are no times of an exchange, and adding a minute to the last one that Python has would fail.
_LAST_MOMENT: Final = datetime(2100, 1, 1, tzinfo=UTC)

# A Unix time as aware UTC: milliseconds, or seconds where the number is too small to be milliseconds (to 2e10).
UtcTime = Annotated[AwareDatetime, Field(ge=_FIRST_MOMENT, le=_LAST_MOMENT)]


# A size, price or amount. Beyond forty digits it is refused: none is so large, and arithmetic could overflow on it.
DecimalFigure = Annotated[Decimal, Field(gt=Decimal("-1e40"), lt=Decimal("1e40"))]


# How many decimal places a price or size has.
Places = Annotated[int, Field(ge=0, le=40)]


def is_text(field: FieldInfo) -> bool:
    """Whether the field holds text, given or not."""
    return field.annotation is str or str in get_args(field.annotation)


def is_time(field: FieldInfo) -> bool:
    """Whether the field holds a time, given or not."""
    return _holds(field.annotation, AwareDatetime)


def _holds(annotation: Any, kind: Any) -> bool:
    return annotation is kind or any(_holds(part, kind) for part in get_args(annotation))
