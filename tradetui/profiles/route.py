"""The route to a profile's exchange: its proxy and the certificates it trusts."""

from __future__ import annotations

import importlib.util
import ssl
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tradetui.exchange.transport.proxy import InvalidProxy, Proxy, parse_proxy, proxy_of_environment
from tradetui.exchange.transport.transport import is_loopback, parse_base_url, verifying_tls
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import LoadedProfile
from tradetui.profiles.model import NO_PROXY, PROXY_OF_ENVIRONMENT
from tradetui.profiles.secrets import refuse_wider_than_owner

CA_VARIABLE: Final = "SSL_CERT_FILE"


@dataclass(frozen=True)
class Route:
    """The proxy with its source, and the certificate file that replaces the usual one, if any."""

    proxy: Proxy | None = None
    proxy_source: str = ""
    ca_file: Path | None = None
    tls: ssl.SSLContext | None = None

    @property
    def proxy_text(self) -> str:
        """The proxy's address without user and password, and its source; empty without a proxy."""
        return f"{self.proxy.address} (from {self.proxy_source})" if self.proxy else ""

    @property
    def ca_file_text(self) -> str:
        """The certificate file in use and its variable; empty if it is the one that comes with httpx."""
        return f"{self.ca_file} (from {CA_VARIABLE})" if self.ca_file else ""


def route_of(loaded: LoadedProfile) -> Route:
    """Resolve a profile's proxy and SSL_CERT_FILE.

    Raises ConfigurationError for an unusable proxy in the environment, a password that others may read, a missing
    package, or a certificate file that cannot be read.
    """
    origin = parse_base_url(loaded.profile.base_url)
    proxy, source = (None, "") if is_loopback(origin.host) else _proxy_of(loaded)
    if proxy is not None and proxy.is_socks and importlib.util.find_spec("socksio") is None:
        raise ConfigurationError(
            "a SOCKS proxy needs the package socksio",
            location=source,
            key="proxy",
            remedy="Run pip install '.[socks]' in tradetui's source directory.",
        )
    ca_file = loaded.environ.get(CA_VARIABLE)
    if not ca_file or origin.scheme != "https":
        return Route(proxy, source)
    return Route(proxy, source, Path(ca_file), _trusting(ca_file))


def _proxy_of(loaded: LoadedProfile) -> tuple[Proxy | None, str]:
    setting = loaded.profile.proxy.get_secret_value()
    if setting == NO_PROXY:
        return None, ""
    if setting == PROXY_OF_ENVIRONMENT:
        try:
            proxy_and_variable = proxy_of_environment(parse_base_url(loaded.profile.base_url), loaded.environ)
        except InvalidProxy as problem:
            raise ConfigurationError(
                str(problem),
                location="environment",
                key="proxy",
                remedy='Correct the variable, or set proxy = "none" or another one (--proxy).',
            ) from None
        return proxy_and_variable or (None, "")
    proxy = parse_proxy(setting)
    if proxy.password is not None and loaded.file is not None:
        refuse_wider_than_owner(loaded.file)
    return proxy, loaded.proxy_source


@lru_cache(maxsize=1)
def _trusting(ca_file: str) -> ssl.SSLContext:
    try:
        return verifying_tls(ca_file)
    except OSError as problem:  # including SSLError: the file holds no certificates
        why = "holds no certificates" if isinstance(problem, ssl.SSLError) else f"cannot be read: {problem.strerror}"
        raise ConfigurationError(
            why, location=ca_file, key=CA_VARIABLE, remedy="Name a file of certificates (PEM), or unset the variable."
        ) from None
