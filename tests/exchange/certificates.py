"""Certificates of a test's own making, for a server on loopback."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec


def certificate(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate of its own making for 127.0.0.1."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = _builder("exchange", "exchange", key.public_key()).add_extension(loopback, critical=False)
    path = directory / "both.pem"
    return _server(path, key, signed.sign(key, hashes.SHA256())), path


def certificate_of_authority(directory: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate for a host name, and the file of the authority that issued it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    ca_key = ec.generate_private_key(ec.SECP256R1())
    key_usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    ca_certificate = (
        _builder("test authority", "test authority", ca_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    ca_file = directory / "authority.pem"
    ca_file.write_bytes(ca_certificate.public_bytes(serialization.Encoding.PEM))

    key = ec.generate_private_key(ec.SECP256R1())
    server_certificate = (
        _builder(name, "test authority", key.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return _server(directory / "server.pem", key, server_certificate), ca_file


def _builder(subject: str, issuer: str, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    """A certificate to be signed, good from yesterday to tomorrow."""
    from cryptography import x509

    subject_name, issuer_name = (
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in (subject, issuer)
    )
    day, now = timedelta(days=1), datetime.now(UTC)
    number = x509.random_serial_number()
    return x509.CertificateBuilder(issuer_name, subject_name, public_key, number, now - day, now + day)


def _server(file: Path, key: ec.EllipticCurvePrivateKey, signed: x509.Certificate) -> ssl.SSLContext:
    """A server's context with a key and its certificate, which are written into the file."""
    from cryptography.hazmat.primitives import serialization

    private_key = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private_key + signed.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
