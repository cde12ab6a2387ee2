"""Checks the setting `store`: libpq's own conninfo or URI, without a password, and encrypted beyond this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tradetui.storage.postgres.errors import WrongStoreSetting

_SECRETS: Final = ("password", "sslpassword")
_SERVICE_REMEDY: Final = "Name a service of ~/.pg_service.conf or of the file that PGSERVICEFILE names"
_PATIENCE: Final = {
    "connect_timeout": "2",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "target_session_attrs": "read-write",  # never a standby, whose copy is behind
    "application_name": "tradetui",
}


def checked_conninfo(setting: str, environ: Mapping[str, str], home: Path) -> str:
    """Return the conninfo to connect with; raises WrongStoreSetting.

    What the setting leaves open, libpq takes from the service's entry, from the environment and from `~/.pgpass`.
    """
    try:
        parameters = {name: str(text) for name, text in conninfo_to_dict(setting).items() if text is not None}
    except psycopg.ProgrammingError as problem:
        raise WrongStoreSetting(
            f"it is neither a conninfo nor a URI of PostgreSQL ({str(problem).strip()})",
            'Write "service=NAME" or "host=… dbname=… user=…"',
        ) from None
    if any(secret in parameters for secret in _SECRETS):
        raise WrongStoreSetting(
            "it holds a password, which others could read there",
            "Take the password out and write it to ~/.pgpass (mode 0600), or use a client certificate",
        )
    service = _service_entry(parameters.get("service") or environ.get("PGSERVICE", ""), environ, home)
    resolved = service | parameters
    host = resolved.get("hostaddr") or environ.get("PGHOSTADDR") or resolved.get("host") or environ.get("PGHOST", "")
    if not all(_is_on_this_machine(part) for part in host.split(",")):
        mode = resolved.get("sslmode") or environ.get("PGSSLMODE") or "verify-full"
        if mode != "verify-full":
            raise WrongStoreSetting(
                f"sslmode is {mode} and the server {host} is another machine, so anybody between could read and answer",
                "Write sslmode=verify-full, and sslrootcert=FILE with the certificate that signed the server's",
            )
        parameters |= {"sslmode": mode, "gssencmode": "disable"}
    return make_conninfo("", **({name: text for name, text in _PATIENCE.items() if name not in resolved} | parameters))


def _is_on_this_machine(host: str) -> bool:
    """Whether a host is a Unix socket or a loopback address; an empty one is libpq's default socket."""
    if host in ("", "localhost") or host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _service_entry(name: str, environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the parameters of a service, from the files in which libpq looks; raises WrongStoreSetting."""
    if not name:
        return {}
    own = Path(environ.get("PGSERVICEFILE") or home / ".pg_service.conf")
    for file in (own, Path(environ.get("PGSYSCONFDIR") or "/etc/postgresql-common") / "pg_service.conf"):
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as problem:
            raise WrongStoreSetting(f"the service file cannot be read ({problem})", _SERVICE_REMEDY) from None
        entry = _section(lines, name)
        if entry is not None:
            return entry
    raise WrongStoreSetting(f"there is no service {name}", _SERVICE_REMEDY)


def _section(lines: list[str], name: str) -> dict[str, str] | None:
    """Return the parameters below `[name]`; None if there is no such section."""
    entry: dict[str, str] | None = None
    for line in map(str.strip, lines):
        if line.startswith("["):
            if entry is not None:
                break
            entry = {} if line == f"[{name}]" else None
        elif entry is not None and line and not line.startswith("#"):
            parameter, _, text = line.partition("=")
            entry[parameter] = text
    return entry
