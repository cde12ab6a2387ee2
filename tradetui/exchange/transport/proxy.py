"""The proxy between this program and the exchange: its address, and the proxy that the environment names."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from tradetui.exchange.transport.transport import Origin, is_loopback

DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "socks5": 1080, "socks5h": 1080}
"""The usable schemes; both kinds of SOCKS let the proxy resolve the exchange's name."""
PROXY_VARIABLES: Final = ("HTTPS_PROXY", "ALL_PROXY")
"""The first one set counts. HTTP_PROXY never does, since the exchange is https wherever a proxy is possible."""


class InvalidProxy(ValueError):
    """The proxy cannot be used. The message says why and holds nothing of the address, which may hold a secret."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy's address, with user and password if it needs them."""

    scheme: str
    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The address without user and password, for display."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS, which needs an extra package."""
        return self.scheme != "http"


def parse_proxy(text: str) -> Proxy:
    """Parse a proxy's address, `http://[user:password@]host[:port]` or the same with socks5; percent-encoded."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
        user = None if parts.username is None else unquote(parts.username, errors="strict")
        password = None if parts.password is None else unquote(parts.password, errors="strict")
    except ValueError:
        raise InvalidProxy(_RULE) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise InvalidProxy(f"must begin with {', '.join(f'{scheme}://' for scheme in DEFAULT_PORTS)}")
    if not host or not _is_host(host) or port == 0 or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidProxy(_RULE)
    if parts.scheme != "http" and any(len(part.encode()) > 255 for part in (user, password) if part is not None):
        raise InvalidProxy("must have a user and a password of at most 255 bytes each, which is all that SOCKS takes")
    return Proxy(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], user, password)


def proxy_of_environment(origin: Origin, environ: Mapping[str, str]) -> tuple[Proxy, str] | None:
    """Return the proxy for this exchange from HTTPS_PROXY or ALL_PROXY, with the variable; None if NO_PROXY excepts it.

    The lower-case name of each variable goes first, even if it is empty, as in Python's own library and in curl. An
    address without a scheme is taken as http. Raises InvalidProxy, which names the variable.
    """
    if is_loopback(origin.host) or is_excepted(origin, _variable(environ, "NO_PROXY")[1]):
        return None
    for upper in PROXY_VARIABLES:
        name, text = _variable(environ, upper)
        if text:
            try:
                return parse_proxy(text if "://" in text else f"http://{text}"), name
            except InvalidProxy as problem:
                raise InvalidProxy(f"{name} {problem}") from None
    return None


def is_excepted(origin: Origin, no_proxy: str) -> bool:
    """Whether NO_PROXY lists the host: `*`, a name with its subdomains, an address or a network, each with an optional
    port.

    Entries are separated by commas or spaces.
    """
    host = origin.host.casefold().rstrip(".")
    for part in no_proxy.replace(",", " ").split():
        if part == "*":
            return True
        try:
            if ipaddress.ip_address(host) in ipaddress.ip_network(part.strip("[]"), strict=False):
                return True
        except ValueError:
            pass
        name, separator, port = part.rpartition(":")
        if not separator or not port.isdecimal() or (":" in name and not name.startswith("[")):
            name, port = part, ""
        if port and int(port) != origin.port:
            continue
        name = name.strip("[]").casefold().removeprefix("*").strip(".")
        if name and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _variable(environ: Mapping[str, str], upper: str) -> tuple[str, str]:
    """Return the spelling of a variable that takes effect, and its value."""
    name = upper.lower() if upper.lower() in environ else upper
    return name, environ.get(name, "").strip()


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return False
        return True
    return host.isascii() and all(part and part.replace("-", "").replace("_", "").isalnum() for part in host.split("."))


_RULE: Final = "must be an address such as http://127.0.0.1:3128 or socks5://127.0.0.1:1080"
