"""Copy trading: create the API key of a copy trader (endpoint 1)."""

from typing import Annotated, ClassVar

from pydantic import SecretStr

from tradetui.wire.replies.nested_fields import texts_of
from tradetui.wire.replies.record import Normalizer, Record
from tradetui.wire.requests.parameter import Passphrase
from tradetui.wire.requests.request import Request


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
