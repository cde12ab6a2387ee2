"""Requests are strict: every rule of the interface is checked at construction, and an error says what to do."""

import difflib
import json
from collections.abc import Mapping
from types import GenericAlias
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, model_validator
from pydantic.alias_generators import to_camel

from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, Ends, Missing, TimeRule, utc_moment
from tradetui.wire.requests.parameter import Parameter

Row = TypeVar("Row")

_set: Final = object.__setattr__


class Request(BaseModel, Generic[Row]):
    """A request's parameters, by snake-case name or the interface's name; None leaves one out.

    Each field is annotated with its `Parameter`, which reads and writes it, and typed for the caller's values. `Row` is
    the model of the rows in the reply. The constructor raises InvalidRequest.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    #: The endpoint's rule for startTime and endTime; None if it accepts neither.
    time_rule: ClassVar[TimeRule | None] = None

    #: The model of the rows in the reply.
    row: ClassVar[type[Any]]

    #: The parameters by the interface's name, in its order.
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    _by_either_name: ClassVar[Mapping[str, Parameter]] = {}
    _defaults: ClassVar[Mapping[str, Any]] = {}

    def __class_getitem__(cls, row: Any) -> Any:
        # Pydantic would build a model class for each row model, which would take most of the import time.
        return GenericAlias(cls, (row,))

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        row_models = [row for base in cls.__dict__.get("__orig_bases__", ()) for row in get_args(base)]
        cls.row = next((row for row in row_models if isinstance(row, type)), object)
        cls._defaults = {name: field.get_default() for name, field in cls.model_fields.items()}
        cls.parameters = {
            (field.alias or name): parameter.changed(name=field.alias or name, attribute=name)
            for name, field in cls.model_fields.items()
            for parameter in field.metadata
            if isinstance(parameter, Parameter)
        }
        by_attribute = {parameter.attribute: parameter for parameter in cls.parameters.values()}
        cls._by_either_name = {**by_attribute, **cls.parameters}

    def __init__(self, /, *unnamed: Any, **values_by_name: Any) -> None:
        if unnamed:
            raise InvalidRequest(type(self).__name__, "parameters by name", "a value without one", self._takes())
        # The parameters have read every value: to check them again, pydantic would build a validator of each request,
        # which takes three milliseconds before its first call.
        values = self._read(values_by_name)
        _set(self, "__dict__", {name: values.get(name, default) for name, default in self._defaults.items()})
        _set(self, "__pydantic_fields_set__", set(values))
        _set(self, "__pydantic_extra__", None)
        _set(self, "__pydantic_private__", None)
        self.check_together()

    @model_validator(mode="wrap")
    @classmethod
    def _of_mapping(cls, values: Any, _: ModelWrapValidatorHandler[Self]) -> Self:
        """Make a request from the argument of `model_validate`; raises InvalidRequest."""
        if isinstance(values, cls):
            return values
        if not isinstance(values, Mapping):
            raise InvalidRequest(cls.__name__, "parameters by name", type(values).__name__, "Give names and values.")
        return cls(**{str(name): value for name, value in values.items()})

    @classmethod
    def _read(cls, values_by_name: Mapping[str, Any]) -> dict[str, Any]:
        """Read the values, by attribute; raises InvalidRequest."""
        values: dict[str, Any] = {}
        for name, value in values_by_name.items():
            parameter = cls._by_either_name.get(name)
            if parameter is None:
                raise InvalidRequest(name, f"not a parameter of {cls.__name__}", "a value", cls._suggestion(name))
            if value is not None:
                values[parameter.attribute] = parameter.read(value)
        for parameter in cls.parameters.values():
            if parameter.required and parameter.attribute not in values:
                raise InvalidRequest(parameter.name, f"required: {parameter.rule}", None, "Give it.")
        return values

    @classmethod
    def _suggestion(cls, name: str) -> str:
        close = difflib.get_close_matches(name, cls._by_either_name, n=1)
        return f"Did you mean {close[0]}?" if close else cls._takes()

    @classmethod
    def _takes(cls) -> str:
        return f"It takes: {', '.join(parameter.attribute for parameter in cls.parameters.values()) or 'nothing'}."

    def check_together(self) -> None:
        """Check the rules that join several parameters; raises InvalidRequest."""

    def is_answered_by(self, row: Row) -> bool:
        """Whether a row of a reply can belong to this request."""
        return True

    def values(self) -> dict[str, Any]:
        """Return the values to send, by the interface's names and in its order: text, or lists of text."""
        return {
            name: parameter.written(value)
            for name, parameter in self.parameters.items()
            if (value := getattr(self, parameter.attribute)) is not None
        }

    def redacted(self) -> Any:
        """Return the values to send in their shape, with secrets as `***`: for a review, a journal, a message."""
        secrets = dict.fromkeys((name for name, parameter in self.parameters.items() if parameter.secret), "***")
        return {name: secrets.get(name, written) for name, written in self.values().items()}

    def query(self) -> list[tuple[str, str]]:
        """Return the parameters of a GET, sorted by name, values not yet encoded."""
        return sorted(self.values().items())

    def body(self) -> bytes:
        """Return the body of a POST: compact UTF-8 JSON, numbers as text. Sign and send the same bytes."""
        return json.dumps(self._payload(), ensure_ascii=False, separators=(",", ":")).encode()

    def _payload(self) -> Any:
        return self.values()

    def changed(self, **changes: Any) -> Self:
        """Return the request with other values, checked again; None removes one. A reworded request stays reworded."""
        kept = {attribute: getattr(self, attribute) for attribute in self._defaults if attribute not in changes}
        # The rules would change a live spelling into the documented word, so it is set again after the checks.
        live_spellings = {
            parameter.attribute: kept[parameter.attribute]
            for parameter in self.parameters.values()
            if kept.get(parameter.attribute) in parameter.alternatives.values()
        }
        return type(self)(**kept, **changes).model_copy(update=live_spellings)

    def reworded(self) -> tuple[str, Self] | None:
        """Return a parameter whose documented word differs on the live exchange, and the request with the live word.

        None if no such word is used, as in a reworded request.
        """
        for name, parameter in self.parameters.items():
            word = getattr(self, parameter.attribute)
            if isinstance(word, str) and word in parameter.alternatives:
                return name, self.model_copy(update={parameter.attribute: parameter.alternatives[word]})
        return None


class TimedRequest(Request[Row]):
    """A request that may name a time span; subclasses declare start_time, end_time and `time_rule`.

    They declare these fields themselves: a base's fields would come first, and help and forms keep the interface's
    order.
    """

    def check_together(self) -> None:
        """Check the ends: both or neither if required, start not after end, and no more than the longest span."""
        rule = self.time_rule
        start: int | None = getattr(self, "start_time", None)
        end: int | None = getattr(self, "end_time", None)
        if rule is None:
            return
        if rule.both is Ends.BOTH_OR_NEITHER and (start is None) != (end is None):
            missing = "startTime" if start is None else "endTime"
            raise InvalidRequest(
                missing, "startTime and endTime are both given or both empty", None, "Give both, or neither."
            )
        if start is None or end is None:
            return
        if start > end:
            raise InvalidRequest("startTime", "not after endTime", f"{_utc(start)} to {_utc(end)}", "Exchange the two.")
        if end - start > rule.span_ms:
            raise InvalidRequest(
                "endTime",
                f"at most {rule.span_text} after startTime",
                f"{(end - start) / DAY_MS:.1f} days",
                f"Cut it into pieces of at most {rule.piece_ms // DAY_MS} days.",
            )


def check_window(rule: TimeRule | None, start: int | None, end: int | None, now_ms: int) -> None:
    """Refuse times outside the exchange's records, which would return an empty page; raises InvalidRequest."""
    if start is not None and start > now_ms:
        raise InvalidRequest("startTime", "must not be in the future", _utc(start), "Give an earlier time.")
    if rule is None:
        return
    if rule.missing is Missing.THREE_MONTHS and start is None and end is not None and end < now_ms - rule.span_ms:
        sentence = "required if endTime is more than three months ago: without it the exchange begins three months ago"
        raise InvalidRequest("startTime", sentence, None, "Give both.")
    if rule.window_ms is None:
        return
    days = rule.window_ms // DAY_MS
    for name, moment, verb in (("startTime", start, "Begin"), ("endTime", end, "End")):
        if moment is not None and moment < now_ms - rule.window_ms:
            remedy = f"{verb} later: {days}d is the earliest there is."
            raise InvalidRequest(name, f"within the last {days} days", _utc(moment), remedy)


def _utc(moment_ms: int) -> str:
    try:
        moment = utc_moment(moment_ms)
    except (ValueError, OverflowError, OSError):
        return str(moment_ms)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
