"""The connection to the store when the server is silent, restarts, speaks TLS or belongs to somebody else."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.postgres import Cluster, StoreDatabase
from tradetui.storage.postgres.conninfo import checked_conninfo
from tradetui.storage.postgres.errors import StoreAway, StoreRefused, WrongStoreSetting
from tradetui.storage.postgres.schema import bring_up_to_date, versions
from tradetui.storage.postgres.server import PostgresServer

SHORT_S = 0.2


class Relay:
    """A way to a server that can swallow all bytes without closing anything."""

    def __init__(self, socket: Path) -> None:
        self.swallows = False
        self.swallowed = asyncio.Event()
        self.port = 0
        self._socket = socket
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_unix_connection(self._socket)
        for source, target in ((reader, to_server[1]), (to_server[0], writer)):
            task = asyncio.create_task(self._pass_on(source, target))
            self._tasks.add(task)

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65536):
            if self.swallows:
                self.swallowed.set()
            else:
                target.write(chunk)
        target.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        if self._server is not None:
            self._server.close()


@pytest.fixture
async def relay(store_database: StoreDatabase) -> AsyncIterator[Relay]:
    cluster = store_database.cluster
    relay = Relay(cluster.directory / f".s.PGSQL.{cluster.port}")
    await relay.start()
    yield relay
    await relay.close()


class Watched:
    """A connection whose changes a test awaits."""

    def __init__(self, conninfo: str) -> None:
        self.server = PostgresServer(conninfo, poll_s=3600.0)
        self._changes: asyncio.Queue[str] = asyncio.Queue()
        self.server.on_change = self._changes.put_nowait

    async def change(self) -> str:
        return await self._changes.get()

    async def until(self, *, away: bool) -> None:
        while (self.server.away_since is not None) != away:
            await self._changes.get()


@pytest.fixture
async def watch() -> AsyncIterator[Callable[[str], Watched]]:
    opened: list[Watched] = []

    def make(conninfo: str) -> Watched:
        opened.append(Watched(conninfo))
        return opened[-1]

    yield make
    for watched in opened:
        await watched.server.aclose()


def through(relay: Relay, database: StoreDatabase) -> str:
    return f"host=127.0.0.1 port={relay.port} dbname={database.name} user=anna connect_timeout=2"


async def test_a_call_to_a_silent_server_ends_at_its_deadline_and_the_next_connection_works(
    relay: Relay, store_database: StoreDatabase, watch: Callable[[str], Watched]
) -> None:
    watched = watch(through(relay, store_database))
    await watched.server.open()
    relay.swallows = True
    with pytest.raises(StoreAway, match=r"no answer within 0\.2 s"):
        await watched.server.call("hello", deadline_s=SHORT_S)
    assert watched.server.away_since is not None
    with pytest.raises(StoreAway):
        await watched.server.call("hello")
    relay.swallows = False
    await watched.until(away=False)
    assert await watched.server.call("hello")


async def test_a_call_that_nobody_waits_for_any_more_still_ends_at_its_deadline(
    relay: Relay, store_database: StoreDatabase, watch: Callable[[str], Watched]
) -> None:
    watched = watch(through(relay, store_database))
    await watched.server.open()
    relay.swallows = True
    call = asyncio.create_task(watched.server.call("hello", deadline_s=SHORT_S))
    await relay.swallowed.wait()
    call.cancel()
    await asyncio.wait({call})
    relay.swallows = False
    with pytest.raises(StoreAway):
        await watched.server.call("hello")
    await watched.until(away=False)
    assert await watched.server.call("hello")


async def test_a_server_that_restarts_is_connected_to_again(
    store_database: StoreDatabase, watch: Callable[[str], Watched]
) -> None:
    cluster = store_database.cluster
    watched = watch(store_database.conninfo())
    await watched.server.open()
    cluster.stop(signal.SIGKILL)
    await watched.until(away=True)
    with pytest.raises(StoreAway):
        await watched.server.call("hello")
    cluster.start()
    await watched.until(away=False)
    assert await watched.server.call("hello")


async def test_what_one_machine_writes_wakes_the_others(
    store_database: StoreDatabase, watch: Callable[[str], Watched]
) -> None:
    watched, other = watch(store_database.conninfo()), PostgresServer(store_database.conninfo("bob"))
    await watched.server.open()
    await other.open()
    await other.call("join_account", "account-1", "https://exchange.example", "live", "1001", "desk2", None)
    await other.call("lock_trading", "account-1", True, "desk2")
    assert await watched.change() == "account-1"
    await other.aclose()


async def test_it_reads_anew_every_few_seconds_even_if_no_notice_comes(store_database: StoreDatabase) -> None:
    server, polled = PostgresServer(store_database.conninfo(), poll_s=0.01), asyncio.Event()
    server.on_change = lambda account: polled.set()
    await server.open()
    await polled.wait()
    await server.aclose()


async def test_a_server_that_is_not_there_is_away_with_the_reason(
    tmp_path: Path, watch: Callable[[str], Watched]
) -> None:
    watched = watch(f"host={tmp_path} dbname=none")
    await watched.server.open()
    assert watched.server.away_since is not None
    assert "No such file" in watched.server.away_reason


async def test_a_database_without_the_schema_is_refused_with_the_code_of_the_schema(
    postgres_cluster: Cluster, watch: Callable[[str], Watched]
) -> None:
    watched = watch(postgres_cluster.conninfo("postgres", "anna"))
    await watched.server.open()
    with pytest.raises(StoreRefused) as refusal:
        await watched.server.call("account_state", "account-1", "desk1")
    assert refusal.value.code == "TT005"


# TLS


def certificates(directory: Path) -> tuple[Path, Path, Path]:
    """Write an authority's certificate, and a server's for localhost with its key."""
    now = datetime.datetime.now(datetime.UTC)

    def certificate(
        name: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, *, is_authority: bool
    ) -> bytes:
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        )
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(names, critical=False)
            .sign(signer, hashes.SHA256())
            .public_bytes(serialization.Encoding.PEM)
        )

    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root, own, key = directory / "root.crt", directory / "server.crt", directory / "server.key"
    root.write_bytes(certificate("authority", authority, authority, is_authority=True))
    own.write_bytes(certificate("localhost", server, authority, is_authority=False))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key.write_bytes(server.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    return root, own, key


async def test_tls_is_verified_to_the_end(
    store_database: StoreDatabase, tmp_path: Path, watch: Callable[[str], Watched]
) -> None:
    cluster = store_database.cluster
    if not cluster.run("postgres", "-C", "ssl_library", "-D", cluster.directory / "data").strip():
        pytest.skip("this server is built without TLS, as the wheel's is")
    root, own, key = certificates(cluster.directory)
    cluster.stop()
    cluster.start(ssl="on", ssl_cert_file=str(cluster.owned(own)), ssl_key_file=str(cluster.owned(key)))
    try:
        verified = f"{store_database.conninfo(host='127.0.0.1')} sslmode=verify-full sslrootcert="
        trusted = watch(verified + str(root))
        await trusted.server.open()
        assert (trusted.server.away_reason, trusted.server.tls) == ("", "TLSv1.3")

        other_root, _, _ = certificates(tmp_path)
        stranger = watch(verified + str(other_root))
        await stranger.server.open()
        assert "SSL error" in stranger.server.away_reason
    finally:
        await trusted.server.aclose()
        cluster.stop()
        cluster.start(ssl="off")


# The setting


def test_a_setting_is_made_patient_and_stays_the_persons(tmp_path: Path) -> None:
    conninfo = checked_conninfo("host=/run/postgresql dbname=desk connect_timeout=9", {}, tmp_path)
    assert "connect_timeout=9" in conninfo
    assert "target_session_attrs=read-write" in conninfo


@pytest.mark.parametrize(
    ("setting", "environ"),
    [
        ("dbname=desk", {}),
        ("host=localhost dbname=desk sslmode=disable", {}),
        ("postgresql://127.0.0.2,[::1]/desk", {}),
        ("host=db.example.com sslmode=verify-full", {}),
        ("host=db.example.com", {"PGSSLMODE": "verify-full"}),
        ("service=near", {}),
    ],
)
def test_a_server_on_this_machine_or_verified_is_taken(setting: str, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".pg_service.conf").write_text("[far]\nhost=db.example.com\nsslmode=require\n[near]\nhost=localhost\n")
    assert checked_conninfo(setting, environ, tmp_path)


def test_beyond_this_machine_it_is_verified_even_if_the_setting_does_not_say_so(tmp_path: Path) -> None:
    assert "sslmode=verify-full" in checked_conninfo("host=db.example.com", {}, tmp_path)


@pytest.mark.parametrize(
    ("setting", "environ", "problem"),
    [
        ("host=localhost password=hunter2", {}, "it holds a password"),
        ("postgresql://anna:hunter2@localhost/desk", {}, "it holds a password"),
        ("host=db.example.com sslmode=require", {}, "sslmode is require"),
        ("host=localhost,db.example.com sslmode=prefer", {}, "sslmode is prefer"),
        ("hostaddr=203.0.113.7 host=localhost sslmode=disable", {}, "sslmode is disable"),
        ("dbname=desk sslmode=allow", {"PGHOST": "db.example.com"}, "sslmode is allow"),
        ("service=far", {}, "sslmode is require"),
        ("dbname=desk", {"PGSERVICE": "far"}, "sslmode is require"),
        ("service=missing", {}, "there is no service missing"),
        ("desk", {}, "neither a conninfo nor a URI"),
    ],
)
def test_a_setting_that_breaks_a_rule_is_refused(
    setting: str, environ: dict[str, str], problem: str, tmp_path: Path
) -> None:
    (tmp_path / ".pg_service.conf").write_text("[far]\nhost=db.example.com\nsslmode=require\n[near]\nhost=localhost\n")
    with pytest.raises(WrongStoreSetting, match=problem) as refusal:
        checked_conninfo(setting, environ, tmp_path)
    assert refusal.value.remedy
    assert "hunter2" not in str(refusal.value)


# The schema


def test_the_schema_is_made_once_and_again_is_nothing(postgres_cluster: Cluster) -> None:
    postgres_cluster.sql("postgres", "create database empty_one")
    first = bring_up_to_date(postgres_cluster.conninfo("empty_one"))
    second = bring_up_to_date(postgres_cluster.conninfo("empty_one"))
    newest = len(versions())
    assert (first.before, first.after, second.before, second.after) == (0, newest, newest, newest)
    assert first.without_role == ("nora",)


async def test_of_two_that_make_the_schema_at_once_one_waits(postgres_cluster: Cluster) -> None:
    postgres_cluster.sql("postgres", "create database empty_two")
    conninfo = postgres_cluster.conninfo("empty_two")
    changes = await asyncio.gather(*(asyncio.to_thread(bring_up_to_date, conninfo) for _ in range(2)))
    assert {change.after for change in changes} == {len(versions())}


def test_an_owner_who_is_no_superuser_makes_the_schema(postgres_cluster: Cluster) -> None:
    postgres_cluster.sql("postgres", "create role otto login createrole")
    postgres_cluster.sql("postgres", "grant tradetui_owner to otto with admin option")
    postgres_cluster.sql("postgres", "create database of_otto owner otto")
    assert bring_up_to_date(postgres_cluster.conninfo("of_otto", "otto")).after == len(versions())


def test_a_person_without_the_right_and_a_newer_schema_are_refused(postgres_cluster: Cluster) -> None:
    database = postgres_cluster.new_database()
    with pytest.raises(StoreRefused):
        bring_up_to_date(postgres_cluster.conninfo(database, "anna"))
    postgres_cluster.sql(database, "insert into tradetui.schema_version (version) values (99)")
    with pytest.raises(StoreRefused) as refusal:
        bring_up_to_date(postgres_cluster.conninfo(database))
    assert refusal.value.code == "TT005"
