"""Parameters of requests: their types, accepted shapes and rules, checked before anything is sent."""

import ipaddress
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias, dataclass_transform

from pydantic import SecretStr

from tradetui.wire.decimal_text import trimmed_digits, typed_number
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.product_types import ProductType

_NO_ALTERNATIVES: Final[Mapping[str, str]] = MappingProxyType({})
MOST_CHARACTERS: Final = 128
"""A longer text is never valid in this interface: ids have about 20 characters, the longest symbols about 30."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Parameter:
    """A text parameter; the subclasses are the other kinds.

    `read` turns a caller's value into the stored value, raising InvalidRequest; `written` is its text on the wire.
    Fields are given by keyword: dataclasses, checked the same way, take longer to define.
    """

    required: bool = False
    rule: str = "text"
    #: The documented words, if only some are accepted.
    choices: tuple[str, ...] = ()
    #: Documented word -> word that the live exchange accepts instead.
    alternatives: Mapping[str, str] = _NO_ALTERNATIVES
    #: The interface's name, set by the request that owns the parameter.
    name: str = ""
    attribute: str = ""

    #: The kind of value, in one word for scripts.
    value_type: ClassVar[str] = "text"
    #: The request of each list element; None if elements are plain.
    element: ClassVar[type[Any] | None] = None
    secret: ClassVar[bool] = False
    #: The fields that are numbers or patterns of the rule.
    limiting: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **rules: Any) -> None:
        self.__dict__.update(rules)

    def changed(self, **rules: Any) -> Self:
        return type(self)(**{**self.__dict__, **rules})

    @property
    def limits(self) -> Mapping[str, object]:
        """The numbers and patterns of the rule, by name."""
        return {name: limit for name in self.limiting if (limit := getattr(self, name)) is not None}

    @property
    def explanation(self) -> str:
        """The rule in one line, with every accepted word."""
        unnamed = not all(word in self.rule for word in self.choices)
        rule = f"{self.rule}: {', '.join(self.choices)}" if unnamed else self.rule
        return f"required, {rule}" if self.required else rule

    def read(self, value: object) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.refused(value, "Give it as text.")
        text = str(value).strip()
        if not text:
            raise self.refused(value, "Give it." if self.required else "Leave it out, or give it a value.")
        if len(text) > MOST_CHARACTERS:
            raise self.refused(value, f"Shorten it from {len(text):,} to at most {MOST_CHARACTERS} characters.")
        return text

    def written(self, value: Any) -> Any:
        return str(value)

    def refused(self, value: object, remedy: str) -> InvalidRequest:
        return InvalidRequest(self.name, self.rule, "***" if self.secret else value, remedy)


class Word(Parameter):
    """One of the documented words, accepted in any case or in the live exchange's spelling, and sent as documented."""

    #: A pattern of further words that the live exchange accepts; None if only the listed ones are.
    open_ended: str | None = None
    #: Whether the caller's case is kept.
    keeps_case: bool = False

    value_type = "word"

    @property
    def limits(self) -> Mapping[str, object]:
        return {} if self.open_ended is None else {"furtherValues": self.open_ended}

    def read(self, value: object) -> str:
        text = str(super().read(value))
        for word in self.choices:
            if text.lower() in (word.lower(), self.alternatives.get(word, word).lower()):
                return text if self.keeps_case else word
        if self.open_ended is not None and re.fullmatch(self.open_ended, text):
            return text
        raise self.refused(value, f"Use one of: {', '.join(self.choices)}.")


class Milliseconds(Parameter):
    """A time: Unix milliseconds as number or text, or an aware datetime."""

    rule: str = "Unix milliseconds, or an aware datetime"

    value_type = "time"

    def read(self, value: object) -> int:
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise self.refused(value, "Give the time a zone.")
            since = value.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            return since.days * DAY_MS + since.seconds * 1000 + since.microseconds // 1000
        return _whole(self, value)


class Count(Parameter):
    """The number of rows a page may hold: `default` if not given, `maximum` at most.

    Above the maximum the exchange uses the maximum if `capped`, else it returns an error.
    """

    default: int
    maximum: int
    capped: bool
    minimum: ClassVar[int] = 1

    value_type = "count"
    limiting = ("minimum", "maximum", "default")

    def __init__(self, *, default: int = 100, maximum: int = 100, capped: bool = False, **rules: Any) -> None:
        over = f"over {maximum} gives {maximum}" if capped else f"at most {maximum}"
        super().__init__(**rules)
        rule = f"a whole number of at least 1, {over} (default {default})"
        self.__dict__.update(default=default, maximum=maximum, capped=capped, rule=rule)

    def read(self, value: object) -> int:
        count = _whole(self, value)
        if count < self.minimum or (count > self.maximum and not self.capped):
            raise self.refused(value, f"Ask for 1 to {self.maximum} rows a page; more rows are further pages.")
        return count


class Amount(Parameter):
    """A size above zero: Decimal, text or whole number, but no float, since its digits are not the caller's."""

    rule: str = "a decimal number above zero"

    value_type = "decimal"

    def read(self, value: object) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
            raise self.refused(value, "Give it as Decimal or as text, such as 0.01.")
        if isinstance(value, str) and len(value) > MOST_CHARACTERS:
            raise self.refused(value, "Give a number such as 0.01.")
        amount = typed_number(value) if isinstance(value, str) else Decimal(value)
        if amount is None:
            raise self.refused(value, "Give it in digits, such as 0.01.")
        if not amount.is_finite() or amount <= 0 or max(abs(amount.adjusted()), len(amount.as_tuple().digits)) > 40:
            raise self.refused(value, "Give a number above zero, such as 0.01.")
        return amount

    def written(self, value: Decimal) -> str:
        return trimmed_digits(value)


class Shaped(Parameter):
    """Text that must match a pattern; `remedy` says how to write it."""

    pattern: str
    remedy: str

    limiting = ("pattern",)

    def read(self, value: object) -> str:
        text = str(super().read(value))
        if not re.fullmatch(self.pattern, text):
            raise self.refused(value, self.remedy)
        return text


class Passphrase(Parameter):
    """The passphrase of a new key; never shown."""

    required: bool = True
    rule: str = "8 to 32 characters, English letters and numbers"
    secret = True

    def read(self, value: object) -> SecretStr:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9]{8,32}", text):
            raise self.refused(value, "Choose 8 to 32 of a-z, A-Z and 0-9, without spaces or signs.")
        return SecretStr(text)

    def written(self, value: SecretStr) -> str:
        return value.get_secret_value()


class Label(Parameter):
    """A note of limited length, counted in characters."""

    longest: int

    limiting = ("longest",)

    def read(self, value: object) -> str:
        text = str(super().read(value))
        if len(text) > self.longest:
            raise self.refused(value, f"Shorten it from {len(text)} to {self.longest} characters.")
        return text


class SymbolName(Parameter):
    """The name of a contract or pair, accepted in any case and sent in upper case, as the exchange writes it."""

    rule: str = "a symbol, such as BTCUSDT"

    def read(self, value: object) -> str:
        symbol = str(super().read(value)).upper()
        if re.search(r"[\s,]", symbol):
            raise self.refused(value, "Give one symbol.")
        return symbol


class CoinName(Parameter):
    """The name of one coin, in letters of any script and sent as given."""

    rule: str = "a coin, such as USDT"

    def read(self, value: object) -> str:
        coin = str(super().read(value))
        if not re.fullmatch(r"[\w$.-]+", coin):
            raise self.refused(value, "Give one coin.")
        return coin


class Listed(Parameter):
    """A list of texts, limited to the documented words if there are any."""

    most: int | None = None

    value_type = "list"
    limiting = ("most",)

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise self.refused(value, "Give a list.")
        entries = tuple(str(entry).strip() for entry in value)
        if any(len(entry) > MOST_CHARACTERS for entry in entries):
            raise self.refused(max(entries, key=len), f"Shorten this entry to at most {MOST_CHARACTERS} characters.")
        if self.most is not None and len(entries) > self.most:
            raise self.refused(f"{len(entries)} entries", f"Give at most {self.most}.")
        if not all(entries):
            raise self.refused(value, "Leave out the empty entries.")
        if not self.choices:
            return entries
        canonical = {word.lower(): word for word in self.choices}
        for entry in entries:
            if entry.lower() not in canonical:
                raise self.refused(entry, f"Use any of: {', '.join(self.choices)}.")
        return tuple(canonical[entry.lower()] for entry in entries)

    def written(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


class Addresses(Listed):
    """A list of IP addresses of either version. The interface mentions only addresses, so networks are refused."""

    def read(self, value: object) -> tuple[str, ...]:
        entries = super().read(value)
        known: set[object] = set()
        for entry in entries:
            address = self._address(entry)
            if address in known:
                raise InvalidRequest(self.name, "each address once", entry, f"{entry} is given twice: leave one out.")
            known.add(address)
        return entries

    def _address(self, entry: str) -> object:
        """Parse an address, so that it equals its other spellings."""
        try:
            return ipaddress.ip_address(entry)
        except ValueError:
            if "/" in entry:
                raise self.refused(entry, f"{entry} is a network: give single addresses.") from None
            raise self.refused(entry, "Give addresses such as 203.0.113.7 or 2001:db8::1.") from None


def _whole(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise parameter.refused(value, "Give a whole number.")
    if isinstance(value, str) and not re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        raise parameter.refused(value, "Give a whole number in digits.")
    number = int(value)
    if number < 0:
        raise parameter.refused(value, "Give a number that is not negative.")
    return number


OrderId: TypeAlias = Annotated[str | None, Parameter(rule="an order's id")]
ClientOid: TypeAlias = Annotated[str | None, Parameter(rule="the clientOid that an order was given")]
Symbol: TypeAlias = Annotated[str | None, SymbolName()]
RequiredSymbol: TypeAlias = Annotated[str, SymbolName(required=True)]
Coin: TypeAlias = Annotated[str | None, CoinName()]
RequiredCoin: TypeAlias = Annotated[str, Parameter(required=True, rule="a coin, such as USDT")]
OlderThan: TypeAlias = Annotated[str | None, Parameter(rule="an id; only older rows are returned")]
ProductTypeText: TypeAlias = Annotated[
    ProductType | str, Word(required=True, rule="one of the product types", choices=tuple(ProductType))
]
Time: TypeAlias = Annotated[int | datetime | None, Milliseconds()]
"""Unix milliseconds or an aware datetime, stored as milliseconds; None leaves it out."""
RowLimit: TypeAlias = Annotated[int | None, Count()]
