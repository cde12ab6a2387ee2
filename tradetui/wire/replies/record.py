"""Rows of replies: tolerant, immutable, and always with the row as received.

`""`, `null` and a missing key are None. Unknown fields are kept (`unknown`), unknown words are kept as text. An
unreadable optional field is None, and its raw text is in `unreadable`. Only a missing or unreadable required field, the
identity or key figure of a row, makes the row unreadable (`UndecodableRowError`).

Fields that hold objects or lists, also as JSON text, become tuples of records or of text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, SkipValidation, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator, core_schema

from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.replies.field_types import is_text, is_time, type_schema

_Row: TypeAlias = Mapping[str, Any]

# Brings a field of several shapes into one: (raw value, name, problems) -> value. It adds unreadable parts to the
# problems, by name.
Normalizer: TypeAlias = Callable[[Any, str, dict[str, str]], Any]

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
ORIGINAL: Final = "v3"
"""The field of a converted row that holds the row of interface v3 as received."""

# Keys that no JSON row has by accident; they carry the raw row through pydantic at no cost in Python.
_RECEIVED: Final = "\0received"
_UNREADABLE: Final = "\0unreadable"

_EITHER_CASE: Final = (("ctime", "cTime"), ("utime", "uTime"))
_NOT_SET: Final = ("0", "-1", 0, -1)


class UndecodableRowError(Exception):
    """A row lacks its identity or key figure; `field` is the interface's name of the first such field."""

    def __init__(self, record: str, field: str) -> None:
        super().__init__(f"{record} without a readable {field}")
        self.field = field


class Record(BaseModel):
    """A row of a reply. Attributes are in snake case; their aliases are the interface's names."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        coerce_numbers_to_str=True,
        hide_input_in_errors=True,
        defer_build=True,
    )

    #: Attributes that together identify the row among its kind.
    identity: ClassVar[tuple[str, ...]] = ()
    #: Other spellings of the interface's names: received spelling -> name used here.
    spellings: ClassVar[Mapping[str, str]] = {}
    #: Normalizers of fields with several shapes, by the interface's name.
    normalizers: ClassVar[Mapping[str, Normalizer]] = {}
    #: The interface's names of secret fields.
    secrets: ClassVar[frozenset[str]] = frozenset()

    _spelled: ClassVar[tuple[tuple[str, str], ...]] = ()
    _attributes: ClassVar[Mapping[str, str]] = {}
    # Shared by all records of the kind: a set of thirty names takes more memory than many rows.
    _fields_set: ClassVar[set[str]] = set()

    received: Annotated[Mapping[str, object], SkipValidation] = Field(
        default_factory=lambda: NOTHING, alias=_RECEIVED, repr=False, exclude=True
    )
    unreadable: Annotated[Mapping[str, str], SkipValidation] = Field(
        default_factory=lambda: NOTHING, alias=_UNREADABLE, repr=False, exclude=True
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._attributes = {
            field.alias or name: name for name, field in cls.model_fields.items() if name not in Record.model_fields
        }
        cls._fields_set = set(cls.model_fields)
        either = tuple((spelling, name) for spelling, name in _EITHER_CASE if name in cls._attributes)
        cls._spelled = (*either, *cls.spellings.items())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the interface's names of the fields, in the model's order."""
        return tuple(cls._attributes)

    @classmethod
    def from_row(cls, row: _Row) -> Self:
        """Make the record of one row as received; raises UndecodableRowError."""
        # The careful reader is used only if needed: building its validator takes pydantic 15 ms before the first fills.
        records = read_rows(cls, [row])
        return _read_with_care(cls, row) if records is None else records[0]

    @classmethod
    def with_distinct_ids(cls, rows: list[Any]) -> list[Any]:
        """Return the rows of a reply, with distinct ids for rows to which the exchange gives the same one."""
        return rows

    @classmethod
    def may_be(cls, row: _Row) -> bool:
        """Whether a row can be of this kind: a gateway may give it the rows of another request."""
        return True

    @property
    def row_id(self) -> str:
        """The row's identity among its kind, as text."""
        identity = self.identity
        if len(identity) == 1:  # true of nearly every kind, and called for every row
            return str(getattr(self, identity[0]))
        return "|".join(str(getattr(self, name)) for name in identity)

    @property
    def unique_key(self) -> object:
        """A key that is unique on all pages."""
        return self.row_id

    @property
    def is_converted(self) -> bool:
        """Whether it was converted from a row of interface v3."""
        return ORIGINAL in self.received

    @property
    def original(self) -> Mapping[str, object]:
        """The row as the exchange sent it: `received`, or the row of interface v3 from which that was converted."""
        row = self.received.get(ORIGINAL)
        return row if isinstance(row, Mapping) else self.received

    @property
    def unknown(self) -> Mapping[str, object]:
        """Fields as the exchange sent them that this model does not name, by their received names."""
        known = self._attributes.keys() | {spelling for spelling, _ in self._spelled}
        return {name: value for name, value in self.original.items() if name not in known}

    @property
    def model_extra(self) -> dict[str, Any] | None:
        """The unknown fields, at the place where pydantic's users expect them."""
        return dict(self.unknown)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.row_id))


R = TypeVar("R", bound=Record)

# Each reads the prepared fields of many rows at once into dictionaries; one for each kind of record, made on first use.
_READERS: Final[dict[type[Record], SchemaValidator]] = {}


def read_rows(kind: type[R], rows: Sequence[_Row]) -> list[R] | None:
    """Read all rows at full speed; None if pydantic refuses one, which `Record.from_row` then reads field by field.

    One pydantic call reads all rows into dictionaries. These become the records' own dictionaries, as in
    `model_construct`: this takes half the time and memory of validating each model, since all share one set of set
    fields.
    """
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _reader(kind)
    prepared, problems = _prepared(kind, rows)
    try:
        read: list[dict[str, Any]] = reader.validate_python(prepared)
    except ValidationError:
        return None
    received = [masked(kind, row) for row in rows] if kind.secrets else rows
    for values, row, unreadable in zip(read, received, problems, strict=True):
        values["received"] = row
        values["unreadable"] = unreadable
    records = list(map(_new, repeat(kind, len(read))))
    _exhaust(map(_set, records, repeat("__dict__"), read))
    _exhaust(map(_set, records, repeat("__pydantic_fields_set__"), repeat(kind._fields_set)))
    _exhaust(map(_set, records, repeat("__pydantic_extra__"), repeat(None)))
    _exhaust(map(_set, records, repeat("__pydantic_private__"), repeat(None)))
    return records


_new = cast("Callable[[type[R]], R]", object.__new__)
_set = object.__setattr__
_exhaust = deque[None](maxlen=0).extend  # runs a map to its end in C: a loop in Python slows every page by 2 %


def _reader(kind: type[Record]) -> SchemaValidator:
    """Make a validator of many rows at once from the schemas of the fields' types."""
    definitions: dict[str, core_schema.CoreSchema] = {}
    fields = {
        name: core_schema.typed_dict_field(
            _field_schema(kind, field, definitions), required=field.is_required(), validation_alias=field.alias
        )
        for name, field in kind.model_fields.items()
        if name not in Record.model_fields
    }
    config = core_schema.CoreConfig(coerce_numbers_to_str=True, hide_input_in_errors=True)
    rows = core_schema.list_schema(core_schema.typed_dict_schema(fields, config=config))
    return SchemaValidator(core_schema.definitions_schema(rows, list(definitions.values())))


def _field_schema(
    kind: type[Record], field: FieldInfo, definitions: dict[str, core_schema.CoreSchema]
) -> core_schema.CoreSchema:
    # A value from a normalizer needs no further reading.
    is_read = field.alias in kind.normalizers
    schema = core_schema.any_schema() if is_read else type_schema(field.annotation, field.metadata, definitions)
    if field.is_required():
        return schema
    return core_schema.with_default_schema(schema, default=field.get_default())


def _prepared(kind: type[Record], rows: Sequence[_Row]) -> tuple[list[dict[str, Any]], Sequence[Mapping[str, str]]]:
    """Prepare pydantic's input: blanks as None, one spelling, one shape; also return each row's unreadable parts."""
    prepared: list[dict[str, Any]] = []
    for row in rows:
        fields = dict(row)
        for name, value in row.items():
            if not value and value == "":
                fields[name] = None
        prepared.append(fields)
    for spelling, name in kind._spelled:
        for fields in prepared:
            if spelling in fields and fields.get(name) is None:
                fields[name] = fields.pop(spelling)
    if not kind.normalizers:
        return prepared, [NOTHING] * len(prepared)
    return prepared, [_normalized(kind, fields) for fields in prepared]


def _normalized(kind: type[Record], fields: dict[str, Any]) -> Mapping[str, str]:
    problems: dict[str, str] = {}
    for name, normalize in kind.normalizers.items():
        value = fields.get(name)
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = normalize(value, name, problems)
    return problems or NOTHING


def masked(kind: type[Record], row: _Row) -> _Row:
    """Return the row with its secrets masked."""
    if not kind.secrets:
        return row
    return {
        name: SecretStr(value if isinstance(value, str) else dump_json(value)) if name in kind.secrets else value
        for name, value in row.items()
    }


def _read_with_care(kind: type[R], row: _Row) -> R:
    """Read one row, field by field where pydantic refuses it; raises UndecodableRowError."""
    (fields,), (unreadable,) = _prepared(kind, [row])
    problems = dict(unreadable)
    fields[_RECEIVED] = masked(kind, row)
    while True:
        fields[_UNREADABLE] = problems or NOTHING
        try:
            return kind.model_validate(fields, by_alias=True, by_name=False)
        except ValidationError as error:
            refused = {str(detail["loc"][0]) for detail in error.errors(include_url=False, include_input=False)}
        for name in sorted(refused, key=kind.names().index):
            _settle(kind, name, fields, problems)


def _settle(kind: type[Record], name: str, fields: dict[str, Any], problems: dict[str, str]) -> None:
    """Make one refused field readable, or remove it and keep its text; raises UndecodableRowError."""
    field = kind.model_fields[kind._attributes[name]]
    value = fields.get(name)
    if is_text(field) and isinstance(value, bool):
        fields[name] = "true" if value else "false"
        return
    if field.is_required():
        raise UndecodableRowError(kind.__name__, name)
    del fields[name]
    if is_time(field) and value in _NOT_SET:
        return
    if name in kind.secrets:
        problems[name] = "***"
    else:
        problems[name] = value if isinstance(value, str) else dump_json(value)


def records_of(kind: type[Record]) -> Normalizer:
    """Make a normalizer that reads an object, a list of objects, or either as JSON text, into a tuple of records."""

    def read(value: Any, name: str, problems: dict[str, str]) -> tuple[Record, ...]:
        records: list[Record] = []
        parsed = _parsed(value)
        entries = parsed if isinstance(parsed, list) else [parsed]
        for index, entry in enumerate(entries):
            where = f"{name}[{index}]" if isinstance(parsed, list) else name
            if isinstance(entry, Mapping):
                try:
                    record = kind.from_row(entry)
                except UndecodableRowError:
                    problems[where] = dump_json(entry)
                else:
                    records.append(record)
                    problems.update((f"{where}.{field}", text) for field, text in record.unreadable.items())
            elif entry is not None:
                problems[where] = entry if isinstance(entry, str) else dump_json(entry)
        return tuple(records)

    return read


def texts_of(value: Any, name: str, problems: dict[str, str]) -> tuple[str, ...]:
    """Read the words of a list, of an object (the names whose value is not "no"), or of comma-separated text."""
    parsed = _parsed(value)
    if isinstance(parsed, Mapping):
        return tuple(str(word) for word, answer in parsed.items() if not _is_no(answer))
    if isinstance(parsed, str):
        return tuple(word for part in parsed.split(",") if (word := part.strip()))
    if not isinstance(parsed, list):
        problems[name] = dump_json(parsed)
        return ()
    texts: list[str] = []
    for index, entry in enumerate(parsed):
        if isinstance(entry, (Mapping, list, bool)):
            problems[f"{name}[{index}]"] = dump_json(entry)
        elif entry is not None and entry != "":
            texts.append(str(entry))
    return tuple(texts)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return load_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_no(value: Any) -> bool:
    return not value or (isinstance(value, str) and value.strip().lower() in ("no", "false", "0"))
