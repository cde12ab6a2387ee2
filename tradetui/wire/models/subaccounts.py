"""Virtual sub-accounts with API keys, created in batch (endpoint 2)."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, Never

from pydantic import SecretStr

from tradetui.wire.enums import VirtualPermission
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.replies.field_types import IdText
from tradetui.wire.replies.nested_fields import texts_of
from tradetui.wire.replies.record import Normalizer, Record
from tradetui.wire.requests.parameter import Addresses, Label, Listed, Parameter, Passphrase, Shaped
from tradetui.wire.requests.request import Request

MOST_PER_REQUEST: Final = 5
MOST_IPS: Final = 30


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
