"""Types of reply fields that pydantic reads at full speed; a refused value is read again by the careful reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import AwareDatetime, Field, GetCoreSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import core_schema

# "0" and "-1" mean "not set" in some time fields; such an early time is refused here and left to the careful reader.
_FIRST_MOMENT: Final = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)

# A later time is not an exchange's, and adding a minute to Python's last one would fail.
_LAST_MOMENT: Final = datetime(2100, 1, 1, tzinfo=UTC)

# A Unix time as aware UTC: milliseconds, or seconds if the number is too small for milliseconds (to 2e10).
UtcTime = Annotated[AwareDatetime, Field(ge=_FIRST_MOMENT, le=_LAST_MOMENT)]


@dataclass(frozen=True, slots=True)
class TextForm:
    """The written form of a number or an id: a regular expression that its whole text must match.

    `Decimal` and pydantic alone would also read `0_1` as 1, ` 1 `, digits of other scripts, and infinity.
    """

    pattern: str

    def schema(self, kind: Any, ref: str | None = None) -> core_schema.CoreSchema:
        """Make a schema that reads text of this form, or such a number, as a `kind`: str, int or Decimal."""
        pattern = f"^(?:{self.pattern})$"
        if kind is str:
            return core_schema.str_schema(pattern=pattern, coerce_numbers_to_str=True, ref=ref)
        text = core_schema.str_schema(pattern=pattern, coerce_numbers_to_str=True)
        number = core_schema.int_schema() if kind is int else core_schema.decimal_schema()
        return core_schema.chain_schema([text, number], ref=ref)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return self.schema(source)


FIGURE_PATTERN: Final = r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-3]?[0-9])?"
# A price, amount, average or rate. An exchange's have at most forty digits before the point, and behind it.
DecimalFigure = Annotated[Decimal, TextForm(FIGURE_PATTERN)]
_WITH_EXPONENT: Final = "|".join(
    rf"[0-9](?:\.[0-9]{{0,{12 + exponent}}}0*)?[eE]{'-' if exponent < 0 else '[+]?'}0?{abs(exponent)}"
    for exponent in range(-12, 15)
)
# A size: fifteen digits before the point and twelve behind it, which add up without rounding; also with an exponent,
# since JSON writers write 0.0000000001 so. Zero may also have an exponent for its column's decimals, such as `0E-16`.
_SIZE: Final = rf"(?:0*[0-9]{{1,15}}(?:\.[0-9]{{0,12}}0*)?|\.[0-9]{{1,12}}|0[eE]-[0-3]?[0-9]|{_WITH_EXPONENT})"
SizeFigure = Annotated[Decimal, TextForm(f"[+-]?{_SIZE}")]
# The size of an order or a fill, whose direction is in another field: a minus would reverse it a second time.
UnsignedSize = Annotated[Decimal, TextForm(rf"[+]?{_SIZE}|-0+(?:\.0*)?")]


# An id from the exchange: any text but a number with a fraction or an exponent. Such a number went through a float and
# has lost digits.
_NO_EXPONENT: Final = r"[+-](?:[0-9]*[^0-9][\s\S]*)?|[0-9]+[^0-9][\s\S]*|[^0-9+-][\s\S]*"
IdText = Annotated[
    str,
    TextForm(
        r"[^0-9][\s\S]*|[0-9]*|[0-9]+[^0-9.eE][\s\S]*|[0-9]+\.[0-9]*[^0-9eE][\s\S]*"
        rf"|[0-9]+\.[0-9]*[eE](?:{_NO_EXPONENT})?|[0-9]+[eE](?:{_NO_EXPONENT}|[0-9]+)?"
    ),
]


# The number of decimals of a price or size.
Places = Annotated[int, TextForm(r"(?:[0-3]?[0-9]|40)(?:\.0+)?")]


_PLAIN: Final[Mapping[Any, Callable[..., core_schema.CoreSchema]]] = {
    str: core_schema.str_schema,
    int: core_schema.int_schema,
    AwareDatetime: partial(core_schema.datetime_schema, tz_constraint="aware", microseconds_precision="truncate"),
}


def type_schema(
    annotation: Any, metadata: Sequence[Any] = (), definitions: dict[str, core_schema.CoreSchema] | None = None
) -> core_schema.CoreSchema:
    """Make the schema that pydantic would make for a field's type, built here for the types of nearly all fields.

    pydantic looks for plugins in the metadata of every installed package, which takes ten milliseconds before the first
    rows. A form's schema goes into `definitions`, if given, and is referenced, so that it is not compiled again for
    each field.
    """
    if get_origin(annotation) is Annotated:
        annotation, *constraints = get_args(annotation)
        parts = [part for field in constraints for part in getattr(field, "metadata", [field])]
        return type_schema(annotation, parts, definitions)
    if get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation):
        alternatives = [choice for choice in get_args(annotation) if choice is not NoneType]
        return core_schema.nullable_schema(type_schema(Union[*alternatives], metadata, definitions))
    form = next((part for part in metadata if isinstance(part, TextForm)), None)
    if form is not None:
        if definitions is None:
            return form.schema(annotation)
        name = f"{annotation.__name__} {form.pattern}"
        definitions[name] = form.schema(annotation, ref=name)
        return core_schema.definition_reference_schema(name)
    if annotation not in _PLAIN:
        return TypeAdapter(Annotated[annotation, *metadata] if metadata else annotation).core_schema
    bounds = {name: value for bound in metadata for name, value in asdict(bound).items()}
    return _PLAIN[annotation](**bounds)


def is_text(field: FieldInfo) -> bool:
    return field.annotation is str or str in get_args(field.annotation)


def is_time(field: FieldInfo) -> bool:
    return _holds(field.annotation, AwareDatetime)


def _holds(annotation: Any, kind: Any) -> bool:
    return annotation is kind or any(_holds(part, kind) for part in get_args(annotation))
