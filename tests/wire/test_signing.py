"""Signatures against the recorded vectors, RSA against its public key, and the query text of awkward values."""

from __future__ import annotations

import base64
import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.enums import BusinessType
from tradetui.wire.models.spot import SpotBillsRequest
from tradetui.wire.models.subaccounts import CreateSubaccountRequest
from tradetui.wire.requests.request import Request
from tradetui.wire.signing import (
    HmacSigner,
    RsaSigner,
    SigningUnavailable,
    decoded_query,
    encoded_query,
    prehash,
    sign_hmac,
    signed_headers,
)


def test_recorded_vectors_from_request_to_headers(recorded: Path) -> None:
    vectors = json.loads((recorded / "signing_vectors.json").read_text())["vectors"]
    assert len(vectors) == 4
    for vector in vectors:
        endpoint = next(candidate for candidate in CATALOGUE.values() if candidate.path == vector["request_path"])
        request: Request[Any] = endpoint.request(**vector["params"])
        query = encoded_query(request.query()) if endpoint.method == "GET" else ""
        body = request.body() if endpoint.method == "POST" else b""
        assert endpoint.method == vector["method"]
        assert query == vector["query_string_on_the_wire"]
        assert body == vector["body"].encode()
        message = prehash(vector["timestamp"], endpoint.method, endpoint.path, query, body)
        assert message == vector["prehash"].encode()
        assert sign_hmac(vector["secret"], message) == vector["signature"]
        assert (
            signed_headers(
                HmacSigner(SecretStr(vector["secret"])),
                api_key=vector["api_key"],
                passphrase=SecretStr(vector["passphrase"]),
                timestamp=vector["timestamp"],
                method=endpoint.method,
                path=endpoint.path,
                query=query,
                body=body,
            )
            == vector["headers_expected"]
        )


def test_hmac_by_hand() -> None:
    # The vector everyone checks HMAC-SHA256 with: hex f7bc83f4...2d1a3cd8.
    expected = "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg="
    assert sign_hmac("key", b"The quick brown fox jumps over the lazy dog") == expected


def test_the_seven_business_types_with_spaces_are_encoded_and_can_be_signed_either_way() -> None:
    spaced = [kind for kind in BusinessType if " " in kind]
    assert len(spaced) == 7
    for kind in spaced:
        pairs = SpotBillsRequest(business_type=kind, coin="USDT").query()
        encoded = encoded_query(pairs)
        assert " " not in encoded
        assert "+" not in encoded
        assert encoded == f"businessType={kind.value.replace(' ', '%20')}&coin=USDT"
        assert decoded_query(pairs) == f"businessType={kind.value}&coin=USDT"
        assert prehash("1", "GET", "/p", encoded) != prehash("1", "GET", "/p", decoded_query(pairs))


def test_non_ascii_bodies_are_utf8_and_unescaped() -> None:
    body = CreateSubaccountRequest(subaccount_name="a@b.cd", label="日本").body()
    assert body == '{"subaccountName":"a@b.cd","label":"日本"}'.encode()
    assert prehash("1", "post", "/p", "", body).startswith(b"1POST/p{")


def test_rsa_signature_verifies() -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    bare = "".join(pem.strip().splitlines()[1:-1])
    for text in (pem, bare):
        signature = RsaSigner(SecretStr(text)).sign(b"message")
        key.public_key().verify(base64.b64decode(signature), b"message", padding.PKCS1v15(), hashes.SHA256())


def test_an_unusable_rsa_key_says_so_without_quoting_it() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for text in ("canary-key", other.decode()):
        with pytest.raises(SigningUnavailable) as refused:
            RsaSigner(SecretStr(text))
        assert "canary" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_rsa_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SigningUnavailable, match=r"pip install .\.\[rsa\]"):
        RsaSigner(SecretStr("key"))


def test_a_signer_shows_no_secret() -> None:
    assert "canary" not in repr(HmacSigner(SecretStr("canary")))
