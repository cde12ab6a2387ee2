"""One spelling for an exchange's address: an account must not become two because its address is written in two ways."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from itertools import product
from typing import Final
from urllib.parse import SplitResult, urlsplit

_LOOPBACK: Final = "127.0.0.1"
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def normalised_address(base_url: str) -> str:
    """The address in the one spelling that identifies it: what reaches the same exchange compares equal.

    Scheme and host are in lower case; default port, trailing dot, trailing slash, user, query and fragment are left
    out; every name and number of the loopback interface is 127.0.0.1. What is no address is returned as it is.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return base_url
    if not host:
        return base_url
    scheme = parts.scheme.lower()
    suffix = "" if port is None or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{_host(host)}{suffix}{parts.path.rstrip('/')}"


def former_spellings(base_url: str) -> Iterator[str]:
    """Ways in which this address may have been written when accounts were still told apart by them."""
    yield base_url
    try:
        normal = urlsplit(normalised_address(base_url))
        port = normal.port
    except ValueError:
        return
    default = _DEFAULT_PORTS.get(normal.scheme)
    hosts = _LOOPBACK_NAMES if normal.hostname == _LOOPBACK else (_bare_host(normal),)
    ports = ("", f":{default}") if port is None else (f":{port}",)
    for host, dot, suffix, slash in product(hosts, ("", "."), ports, ("", "/")):
        yield f"{normal.scheme}://{host}{dot}{suffix}{normal.path}{slash}"


def _bare_host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    return f"[{host}]" if ":" in host else host


def _host(host: str) -> str:
    host = host.lower().rstrip(".").partition("%")[0]
    if host == "localhost" or host.endswith(".localhost") or host == "localhost.localdomain":
        return _LOOPBACK
    address = _number(host)
    if address is None:
        try:
            return host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback or address.is_unspecified:  # a connection to the unspecified address reaches this machine
        return _LOOPBACK
    return f"[{address}]" if isinstance(address, IPv6Address) else str(address)


def _number(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except (ValueError, AddressValueError):
        pass
    if not host or not set(host) <= set("0123456789abcdefx."):
        return None
    try:
        return IPv4Address(socket.inet_aton(host))  # 127.1 and 0x7f000001 too
    except OSError:
        return None
