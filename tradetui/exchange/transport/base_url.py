"""The base URL of an exchange: what is accepted, and the parts of it that a connection needs."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from tradetui.wire.errors import InvalidRequest

_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.IGNORECASE)


class Origin(NamedTuple):
    """Scheme, host and port of a base URL that was checked."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        standard = {"https": 443, "http": 80}[self.scheme] == self.port
        return f"{self.scheme}://{host}" + ("" if standard else f":{self.port}")


def parse_base_url(base_url: str) -> Origin:
    """Parse a base URL: https, or http on loopback; nothing but scheme, host and port. Raises `InvalidRequest`."""
    try:
        parts = urlsplit(base_url.strip())
    except ValueError:  # no IPv6 address in the brackets, or a letter that would become a mark; it quotes what it read
        shown = "***" if "@" in base_url else base_url
        raise _refused("an https address", shown, "Write it like https://api.example.com.") from None
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.username is not None or parts.password is not None:
        raise _refused("without user name and password", "***", "Leave them out; the API key goes elsewhere.")
    host = _in_ascii(host or "")
    if parts.scheme not in ("https", "http") or not host:
        raise _refused("an https address", base_url, "Write it like https://api.example.com.")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise _refused("scheme, host and port alone", base_url, "Leave out what follows the host.")
    if parts.scheme == "http" and not is_loopback(host):
        raise _refused("https, or http on this machine", base_url, "Write https://; http is for 127.0.0.1 only.")
    return Origin(parts.scheme, host, port or {"https": 443, "http": 80}[parts.scheme])


def _in_ascii(host: str) -> str:
    """The host name in ASCII (RFC 3490 where it has other letters), or an empty string where it is no host name."""
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return ""
    return host if _NAME.fullmatch(host) else ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refused(rule: str, value: str, remedy: str) -> InvalidRequest:
    return InvalidRequest("base_url", rule, value, remedy=remedy)
