"""Credentials: an API key with its secret and passphrase; their text forms hide them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tradetui.wire.signing import HmacSigner, RsaSigner

if TYPE_CHECKING:
    from tradetui.wire.signing import Signer

MASK = "***"


@dataclass(frozen=True, slots=True, init=False)
class Credentials:
    """An API key. Secret and passphrase may be given as text; `rsa` means that the secret is a private key (PEM)."""

    api_key: str = field(repr=False)
    secret: SecretStr
    passphrase: SecretStr
    rsa: bool

    def __init__(self, api_key: str, secret: SecretStr | str, passphrase: SecretStr | str, rsa: bool = False) -> None:
        object.__setattr__(self, "api_key", api_key)
        object.__setattr__(self, "secret", _wrapped(secret))
        object.__setattr__(self, "passphrase", _wrapped(passphrase))
        object.__setattr__(self, "rsa", rsa)

    def signer(self) -> Signer:
        """Make the signer of this key's requests; raises `SigningUnavailable` for an unusable RSA key."""
        return RsaSigner(self.secret) if self.rsa else HmacSigner(self.secret)

    def masked(self, text: str) -> str:
        """Mask the key, secret and passphrase in a text from the exchange, in case it repeats one."""
        for value in (self.secret.get_secret_value(), self.passphrase.get_secret_value(), self.api_key):
            if len(value) >= 4 and value in text:
                text = text.replace(value, MASK)
        return text


def _wrapped(value: SecretStr | str) -> SecretStr:
    return value if isinstance(value, SecretStr) else SecretStr(value)
