"""Signatures of requests: the signed string, HMAC-SHA256 and RSA, and the query text that both sides sign."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import quote

from pydantic import SecretStr


class SigningUnavailable(Exception):
    """A key of this kind cannot be used here; the message says what to install or correct."""


def encoded_query(pairs: Iterable[tuple[str, str]]) -> str:
    """Write the query as sent: values percent-encoded, a space as %20, pairs in the given order."""
    return "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)


def decoded_query(pairs: Iterable[tuple[str, str]]) -> str:
    """Write the query with decoded values, which some servers sign instead of the encoded one."""
    return "&".join(f"{name}={value}" for name, value in pairs)


def prehash(timestamp: str, method: str, path: str, query: str = "", body: bytes = b"") -> bytes:
    """Return the bytes to sign: timestamp (ms), METHOD, path, "?" and query if there is one, body."""
    head = timestamp + method.upper() + path + ("?" + query if query else "")
    return head.encode() + body


def sign_hmac(secret: str, message: bytes) -> str:
    """Return the Base64 of HMAC-SHA256 of the message under the secret key."""
    return base64.b64encode(hmac.digest(secret.encode(), message, "sha256")).decode()


class Signer(Protocol):
    def sign(self, message: bytes) -> str: ...


class HmacSigner:
    def __init__(self, secret: SecretStr) -> None:
        self._secret = secret

    def sign(self, message: bytes) -> str:
        return sign_hmac(self._secret.get_secret_value(), message)


class RsaSigner:
    """Signs with the private key of an RSA key: SHA-256, PKCS#1 v1.5.

    The key is PEM text, or its bare Base64 as some exports give it. Raises SigningUnavailable if the `rsa` extra is not
    installed or the key cannot be read.
    """

    def __init__(self, private_key: SecretStr) -> None:
        try:
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import padding, rsa
        except ImportError:
            raise SigningUnavailable(
                "An RSA key needs the package cryptography: run pip install '.[rsa]' in tradetui's source directory, "
                "or use an HMAC key."
            ) from None
        try:
            key = serialization.load_pem_private_key(_as_pem(private_key.get_secret_value()), password=None)
        except (ValueError, TypeError):
            # The cause may quote the key, so it is dropped.
            raise SigningUnavailable(
                "The RSA private key cannot be read: give unencrypted PEM text (-----BEGIN PRIVATE KEY-----)."
            ) from None
        if not isinstance(key, rsa.RSAPrivateKey):
            raise SigningUnavailable("The private key is not an RSA key; the exchange takes RSA or HMAC keys.")
        self._key: Any = key
        self._padding: Any = padding.PKCS1v15()
        self._hash: Any = hashes.SHA256()

    def sign(self, message: bytes) -> str:
        return base64.b64encode(self._key.sign(message, self._padding, self._hash)).decode()


def _as_pem(text: str) -> bytes:
    text = text.strip()
    if text.startswith("-----"):
        return text.encode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n".encode()


def signed_headers(
    signer: Signer,
    *,
    api_key: str,
    passphrase: SecretStr,
    timestamp: str,
    method: str,
    path: str,
    query: str = "",
    body: bytes = b"",
    locale: str = "en-US",
) -> dict[str, str]:
    """Return the headers of a signed request; `query` is the signed text."""
    return {
        "ACCESS-KEY": api_key,
        "ACCESS-SIGN": signer.sign(prehash(timestamp, method, path, query, body)),
        "ACCESS-TIMESTAMP": timestamp,
        "ACCESS-PASSPHRASE": passphrase.get_secret_value(),
        "Content-Type": "application/json",
        "locale": locale,
    }
