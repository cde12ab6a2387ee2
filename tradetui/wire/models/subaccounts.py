"""Broker sub-accounts with transfers and e-mail, virtual sub-accounts, and the API keys made with them.

A new key's secret comes once, in the reply that creates the key, and cannot be read again.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, Never

from pydantic import SecretStr

from tradetui.wire.enums import TransferType, VirtualPermission, same
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, Ends, Missing, TimeRule
from tradetui.wire.replies.field_types import DecimalFigure, IdText, UtcTime
from tradetui.wire.replies.record import Record, texts_of
from tradetui.wire.requests.parameter import (
    Addresses,
    Count,
    Label,
    Listed,
    OlderThan,
    Parameter,
    Passphrase,
    Shaped,
    Time,
    Word,
)
from tradetui.wire.requests.request import Request, TimedRequest

MOST_PER_REQUEST: Final = 5
"""Virtual sub-accounts in one batch."""
MOST_IPS: Final = 30
"""Addresses to which one key may be bound."""
LIVE_WITHDRAWAL = "withdrawal"
"""The live exchange's spelling of `withdrawl`."""


class SubaccountTransfer(Record):
    """A deposit or withdrawal of a sub-account; a transfer between two of them gives each a row."""

    identity = ("tx_id", "uid")

    uid: IdText
    tx_id: IdText
    coin: str
    type: str | None = None
    sub_type: str | None = None
    amount: DecimalFigure
    status: str | None = None
    ts: UtcTime | None = None

    @property
    def is_withdrawal(self) -> bool:
        return same(self.type, TransferType.WITHDRAWAL) or same(self.type, LIVE_WITHDRAWAL)


class TransfersRequest(TimedRequest[SubaccountTransfer]):
    """Endpoint 4: deposits and withdrawals of sub-accounts, at most 7 days of the last 90.

    Give both ends or neither; without them it is the previous day (UTC). `idLessThan` 1, its default, is the first
    page.
    """

    time_rule = TimeRule(
        span_ms=7 * DAY_MS,
        both=Ends.BOTH_OR_NEITHER,
        missing=Missing.PREVIOUS_DAY,
        window_ms=NINETY_DAYS_MS,
        span_text="7 days",
    )

    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(capped=True)] = None
    id_less_than: OlderThan = None
    type: Annotated[
        str | None,
        Word(
            rule="all, deposit or withdrawl",
            choices=("all", TransferType.DEPOSIT, TransferType.WITHDRAWAL),
            alternatives={TransferType.WITHDRAWAL.value: LIVE_WITHDRAWAL},
        ),
    ] = None


class SubaccountEmail(Record):
    """The e-mail of a sub-account."""

    identity = ("sub_uid",)

    sub_uid: IdText
    subaccount_name: str | None = None
    subaccount_email: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None


class SubaccountEmailRequest(Request[SubaccountEmail]):
    """Endpoint 10: the e-mail of a sub-account."""

    sub_uid: Annotated[
        str,
        Shaped(
            required=True, rule="a sub-account's UID", pattern=r"[0-9]+", remedy="Give its digits, such as 4200000001."
        ),
    ]


class BrokerSubaccount(Record):
    """A broker's sub-account as created."""

    identity = ("sub_uid",)
    normalizers = {"permList": texts_of}

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


class VirtualSubaccount(Record):
    """A virtual sub-account as created, with the secret of its key, which is sent only once."""

    identity = ("sub_account_uid",)
    normalizers = {"permList": texts_of, "ipList": texts_of}
    secrets = frozenset({"secretKey"})

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
    """The sub-accounts of one batch, with distinct names."""

    most: ClassVar[int] = MOST_PER_REQUEST

    value_type = "list"
    limiting = ("most",)
    element = VirtualSubaccountRequest

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


class CopyApiKey(Record):
    """A copy-trading key as created; its secret is sent only once."""

    identity = ("apikey",)
    normalizers = {"permissions": texts_of}
    secrets = frozenset({"secret"})

    apikey: str
    secret: SecretStr
    permissions: tuple[str, ...] = ()


class CreateCopyKeyRequest(Request[CopyApiKey]):
    """Endpoint 1: create a copy-trading key; only once, and only for the new copy-trading model."""

    passphrase: Annotated[SecretStr, Passphrase()]
