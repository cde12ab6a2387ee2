"""Creates the schema `tradetui` in a database, and brings an older one to the version that this program knows."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

import psycopg

from tradetui.storage.postgres.errors import StoreAway, StoreRefused, grant

OLDEST_SERVER: Final = 15
_PERMISSION_DENIED: Final = "42501"
_NO_SCHEMA: Final = frozenset({"3F000", "42883"})
"""Schema or function is missing: the database is another one, or `store init` has not brought it up to date."""
_SERVERS_OWN_FAULTS: Final = ("08", "25", "40", "53", "55", "57", "58", "XX")
"""Classes of SQLSTATE that tell of the server's state and not of the call."""
_REMEDIES: Final = {
    "no password supplied": "write the line HOST:PORT:DATABASE:USER:PASSWORD into ~/.pgpass (mode 0600)",
    "password authentication failed": "correct the password in ~/.pgpass, or the user in store",
    "root certificate file": "write sslrootcert=FILE into store, with the certificate that signed the server's",
    "certificate verify failed": "write sslrootcert=FILE into store, with the certificate that signed the server's",
    "does not match host name": "write host=NAME into store as the certificate names it, and its hostaddr=ADDRESS",
    "does not support SSL": "have ssl turned on at the server, or reach it by SSH; see tradetui help machines",
    "no pg_hba.conf entry": "the server's owner allows this person and address in pg_hba.conf",
    "is not permitted to log in": "the server's owner runs ALTER ROLE … LOGIN",
    "session is read-only": "write the primary server into store; a standby's copy is behind",
    "too many": "a session needs two connections: the server's owner raises the limit, such as max_connections",
    "connection slots": "a session needs two connections: the server's owner raises max_connections",
    "failed to resolve host": "correct host in store",
    "Connection refused": "see that the server runs, and correct host and port in store",
    "does not exist": "correct store, or have the server's owner create it",
}
"""What to do about an error, by a part of libpq's sentence; the first that fits."""
_ROLES: Final = """
do $$
begin
    if to_regrole('tradetui_owner') is null then
        create role tradetui_owner nologin;
        create role tradetui_viewer nologin;
        create role tradetui_trader nologin;
        create role tradetui_admin nologin;
        grant tradetui_viewer to tradetui_trader;
        grant tradetui_trader to tradetui_admin;
    end if;
    if not pg_has_role(current_user, 'tradetui_owner', 'usage') then
        grant tradetui_owner to current_user;
    end if;
end $$;
create schema if not exists tradetui authorization tradetui_owner;
set local role tradetui_owner;
create table if not exists tradetui.schema_version (version int primary key, at timestamptz not null default now());
"""


class SchemaChange(NamedTuple):
    """The schema's version before and after, and the login roles that may not use it yet."""

    before: int
    after: int
    without_role: tuple[str, ...]


@cache
def versions() -> tuple[str, ...]:
    """The SQL of each version, the first one first: `001_intents.sql` and so on."""
    files = resources.files("tradetui.storage.postgres").joinpath("migrations").iterdir()
    return tuple(file.read_text("utf-8") for file in sorted(files, key=lambda file: file.name))


def bring_up_to_date(conninfo: str) -> SchemaChange:
    """Bring a database's schema to the newest version, each version in a transaction of its own.

    The person needs the right to create roles and, in this database, schemas. Raises StoreAway if the server cannot be
    reached, StoreRefused if it refuses, or if its schema is newer than this program.
    """
    try:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            server = connection.info.server_version // 10_000
            if server < OLDEST_SERVER:
                raise StoreRefused(
                    "TT005", f"the server is PostgreSQL {server}; {OLDEST_SERVER} or newer is needed", {}
                )
            return _migrated(connection)
    except psycopg.Error as problem:
        raise named_error(problem) from None


def _migrated(connection: psycopg.Connection[Any]) -> SchemaChange:
    before: int | None = None
    newest = len(versions())
    version = 0
    while before is None or version < newest:
        with connection.transaction():
            # Of two that migrate at once, the second waits here for the first.
            connection.execute("select pg_advisory_xact_lock(hashtext('tradetui schema'))")
            connection.execute(_ROLES)
            row = connection.execute("select coalesce(max(version), 0) from tradetui.schema_version").fetchone()
            version = int(row[0]) if row else 0
            before = version if before is None else before
            if version > newest:
                raise StoreRefused(
                    "TT005", f"the store has schema {version}, this program knows schema {newest}", {"store": version}
                )
            if version < newest:
                connection.execute("set local search_path = tradetui, pg_temp")
                connection.execute(versions()[version].encode())
                version += 1
                connection.execute("insert into tradetui.schema_version (version) values (%s)", (version,))
    rows = connection.execute(
        "select rolname from pg_roles where rolcanlogin and not rolsuper"
        " and not pg_has_role(oid, 'tradetui_viewer', 'usage') order by rolname"
    ).fetchall()
    return SchemaChange(before, newest, tuple(str(name) for (name,) in rows))


def named_error(problem: psycopg.Error, person: str = "") -> StoreAway | StoreRefused:
    """Tell a refusal, after which nothing has changed, from everything after which that is not certain.

    `person` is who called a function of the schema; empty while the schema is set up.
    """
    code, message = problem.sqlstate, problem.diag.message_primary or libpq_reason(problem)
    if code is None or code.startswith(_SERVERS_OWN_FAULTS):
        return StoreAway(message)
    if code == _PERMISSION_DENIED:
        if person:
            return StoreRefused("TT003", f"{person} may not do this; the owner runs {grant(person)}", {})
        return StoreRefused(
            "TT003",
            f"this person lacks the right to set up the store ({message}); run tradetui store init as the person who "
            "ran it first, or as one who may create roles and, in this database, schemas",
            {},
        )
    if code in _NO_SCHEMA:
        return StoreRefused(
            "TT005", f"the database lacks this program's schema ({message}); its owner runs tradetui store init", {}
        )
    detail = problem.diag.message_detail or ""
    return StoreRefused(code, message, json.loads(detail) if code.startswith("TT") else {"detail": detail})


def libpq_reason(problem: psycopg.Error) -> str:
    """Return what libpq says of its last attempt to connect, with the remedy where it is known."""
    first, *later = str(problem).strip().split("\n")
    attempts = [line for line in later if line.startswith("- host:")]  # if the name has several addresses
    reason = (attempts[-1] if attempts else first).rpartition("connection failed: ")[2]
    remedy = next((remedy for part, remedy in _REMEDIES.items() if part in reason), "")
    return f"{reason}; {remedy}" if remedy else reason
