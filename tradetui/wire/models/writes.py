"""Everything that changes something at the exchange: reversing a position, creating accounts and keys.

Numbers of endpoints are the interface's. What comes back holds ids and, of a new key, a secret that is told once.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Never

from pydantic import SecretStr

from tradetui.wire.enums import PositionMode, Side, VirtualPermission
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.replies.field_types import IdText, UtcTime
from tradetui.wire.replies.nested_fields import texts_of
from tradetui.wire.replies.record import Normalizer, Record
from tradetui.wire.requests.parameter import (
    Addresses,
    Amount,
    Label,
    Listed,
    Parameter,
    Passphrase,
    ProductTypeText,
    RequiredCoin,
    RequiredSymbol,
    Shaped,
    Word,
)
from tradetui.wire.requests.request import Request

MOST_PER_REQUEST: Final = 5
"""Sub-accounts of one batch."""
MOST_IPS: Final = 30


class ReversalResult(Record):
    """The exchange's answer to a reversal: ids, no outcome."""

    identity: ClassVar[tuple[str, ...]] = ("order_id",)

    order_id: IdText
    client_oid: str | None = None


class ReversalRequest(Request[ReversalResult]):
    """Endpoint 5: reverse a position.

    Hedge mode needs side (buy reverses the LONG, sell the SHORT), trade_side and size. In one-way mode leave trade_side
    out; without size the whole position is reversed.
    """

    symbol: RequiredSymbol
    margin_coin: RequiredCoin
    product_type: ProductTypeText
    size: Annotated[Decimal | None, Amount()] = None
    side: Annotated[str | None, Word(rule="buy or sell", choices=(Side.BUY, Side.SELL))] = None
    trade_side: Annotated[str | None, Word(rule="Open or Close", choices=("Open", "Close"), keeps_case=True)] = None
    client_oid: Annotated[
        str | None,
        Shaped(
            rule="at most 50 of 0-9 a-z A-Z - + _ #",
            pattern=r"[0-9A-Za-z\-+_#]{1,50}",
            remedy="Use at most 50 letters, digits and - + _ #.",
        ),
    ] = None

    def is_answered_by(self, row: ReversalResult) -> bool:
        """Whether the reply names no other order than this request; one that names none is of this request."""
        return self.client_oid is None or not row.client_oid or row.client_oid == self.client_oid

    def check_mode(self, mode: PositionMode) -> None:
        """Hold the request to the rules of the account's position mode, as above; raises InvalidRequest."""
        if mode is PositionMode.ONE_WAY:
            if self.trade_side is not None:
                raise InvalidRequest("tradeSide", "not given in one-way mode", self.trade_side, "Leave it out.")
            return
        if self.side is None:
            raise InvalidRequest(
                "side", "required in hedge mode", None, "Give buy to reverse the LONG, sell to reverse the SHORT."
            )
        if self.trade_side is None:
            # The interface takes Close as well; the exchange's own page names Open alone, for either leg.
            raise InvalidRequest("tradeSide", "required in hedge mode", None, "Give Open.")
        if self.size is None:
            raise InvalidRequest("size", "required in hedge mode", None, "Give the position's size to reverse it all.")


class CopyApiKey(Record):
    """A copy-trading key as created; its secret is told once."""

    identity: ClassVar[tuple[str, ...]] = ("apikey",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"permissions": texts_of}
    secrets: ClassVar[frozenset[str]] = frozenset({"secret"})

    apikey: str
    secret: SecretStr
    permissions: tuple[str, ...] = ()


class CreateCopyKeyRequest(Request[CopyApiKey]):
    """Endpoint 1: create a copy-trading key; only once, and only for the new copy-trading model."""

    passphrase: Annotated[SecretStr, Passphrase()]


class VirtualSubaccount(Record):
    """A virtual sub-account as created, with the secret of its key, which is told once."""

    identity: ClassVar[tuple[str, ...]] = ("sub_account_uid",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"permList": texts_of, "ipList": texts_of}
    secrets: ClassVar[frozenset[str]] = frozenset({"secretKey"})

    sub_account_uid: IdText
    sub_account_name: str | None = None
    label: str | None = None
    sub_account_api_key: str | None = None
    secret_key: SecretStr | None = None
    perm_list: tuple[str, ...] = ()
    ip_list: tuple[str, ...] = ()


class VirtualSubaccountRequest(Request[Never]):
    """One sub-account of the batch."""

    sub_account_name: Annotated[
        str,
        Shaped(
            required=True, rule="8 English letters", pattern=r"[A-Za-z]{8}", remedy="Give exactly 8 of a-z and A-Z."
        ),
    ]
    passphrase: Annotated[SecretStr, Passphrase()]
    label: Annotated[str, Label(required=True, rule="1 to 20 characters", longest=20)]
    ip_list: Annotated[Sequence[str] | None, Addresses(rule=f"at most {MOST_IPS} IP addresses", most=MOST_IPS)] = None
    perm_list: Annotated[
        Sequence[str] | None, Listed(rule="any of the permissions", choices=tuple(VirtualPermission))
    ] = None


class _Batch(Parameter):
    most: ClassVar[int] = MOST_PER_REQUEST

    value_type: ClassVar[str] = "list"
    limiting: ClassVar[tuple[str, ...]] = ("most",)
    element: ClassVar[type[VirtualSubaccountRequest] | None] = VirtualSubaccountRequest

    def read(self, value: object) -> tuple[VirtualSubaccountRequest, ...]:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise self.refused("something else", "Give a list of sub-accounts.")
        elements = tuple(value)
        if not 1 <= len(elements) <= MOST_PER_REQUEST:
            raise self.refused(f"{len(elements)} elements", f"Give 1 to {MOST_PER_REQUEST}; send more in turns.")
        accounts = tuple(VirtualSubaccountRequest.model_validate(element) for element in elements)
        names: set[str] = set()
        for account in accounts:
            name = account.sub_account_name.lower()
            if name in names:
                raise InvalidRequest("subAccountName", "each name once", account.sub_account_name, "Choose another.")
            names.add(name)
        return accounts


class CreateBatchRequest(Request[VirtualSubaccount]):
    """Endpoint 2: create up to 5 virtual sub-accounts, each with an API key. The body is an array."""

    accounts: Annotated[
        Sequence[VirtualSubaccountRequest],
        _Batch(required=True, rule=f"at most {MOST_PER_REQUEST} elements per request"),
    ]

    def _payload(self) -> Any:
        return [account.values() for account in self.accounts]

    def redacted(self) -> Any:
        return [account.redacted() for account in self.accounts]


class BrokerSubaccount(Record):
    """A broker's sub-account as created."""

    identity: ClassVar[tuple[str, ...]] = ("sub_uid",)
    normalizers: ClassVar[dict[str, Normalizer]] = {"permList": texts_of}

    sub_uid: IdText
    subaccount_name: str | None = None
    status: str | None = None
    perm_list: tuple[str, ...] = ()
    label: str | None = None
    c_time: UtcTime | None = None


class CreateSubaccountRequest(Request[BrokerSubaccount]):
    """Endpoint 8: create a broker's sub-account."""

    subaccount_name: Annotated[
        str,
        Shaped(
            required=True,
            rule="an e-mail address",
            pattern=r"[^@\s]+@[^@\s]+\.[^@\s]+",
            remedy="Give an e-mail address, such as desk1@example.com.",
        ),
    ]
    label: Annotated[str | None, Label(rule="below 20 characters", longest=19)] = None
