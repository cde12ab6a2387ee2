"""`tradetui store` and what `doctor` says of the store, at the command line and on a real server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.commands.conftest import Point
from tests.postgres import OWNER, StoreDatabase
from tradetui.cli import main
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.commands.session.overview_profiles import OverviewProfiles
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.registered_journal import open_journal
from tradetui.desk.intents.journal.store_mark import MARK_FILE
from tradetui.desk.intents.shared_account import SharedAccount
from tradetui.desk.intents.states import State
from tradetui.exchange.clock import Moment, SystemClock
from tradetui.profiles.load import Flags, load
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.postgres.errors import StoreAway
from tradetui.storage.postgres.schema import libpq_reason, versions
from tradetui.wire.product_types import ProductType

Use = Callable[..., None]


@pytest.fixture
def use(point: Point, store_database: StoreDatabase) -> Use:
    """Write a profile of a person at the machine desk1."""
    point()
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "tradetui"
    folder.mkdir(parents=True)

    def write(person: str, database: str = store_database.name) -> None:
        conninfo = store_database.cluster.conninfo(database, person)
        url = os.environ["TRADETUI_BASE_URL"]
        text = f'[profiles.main]\nbase_url = "{url}"\nmode = "trade"\nmachine = "desk1"\nstore = "{conninfo}"\n'
        (folder / "config.toml").write_text(text)

    return write


def add_profile(name: str) -> None:
    """Write a second profile, which is like the first."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tradetui" / "config.toml"
    config.write_text(config.read_text() + config.read_text().replace("profiles.main", f"profiles.{name}"))


def checks(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    main(["doctor", "--json"])
    return {check["check"]: check for check in json.loads(capsys.readouterr().out) if "store" in check["check"]}


def test_init_makes_the_schema_and_prints_a_grant_for_each_person_without_one(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    store_database.sql("create database fresh")
    use("anna", "fresh")
    assert (main(["store", "init"]), main(["store", "status"])) == (1, 1)
    text = capsys.readouterr().err
    assert "lacks the right" in text and "as one who may create roles and, in this database, schemas" in text
    assert "runs tradetui store init" in text
    use(OWNER, "fresh")
    assert main(["store", "init"]) == 0
    text = capsys.readouterr().out
    assert "created" in text
    assert 'GRANT tradetui_trader TO "nora";' in text
    assert main(["store", "init", store_database.cluster.conninfo("fresh")]) == 0
    assert "nothing was changed" in capsys.readouterr().out


def test_a_password_on_the_command_line_is_refused(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "init", "host=localhost password=hunter2"]) == 2
    text = capsys.readouterr().err
    assert "~/.pgpass" in text
    assert "hunter2" not in text


def test_where_the_library_is_missing_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "tradetui.storage.postgres.conninfo", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert main(["store", "init", "service=desk"]) == 2
    assert "pip install '.[store]'" in capsys.readouterr().err


def test_without_the_setting_each_action_says_where_it_belongs(
    point: Point, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    for action in ("init", "status"):
        assert main(["store", action]) == 2
        assert "store" in capsys.readouterr().err
    assert checks(capsys) == {}


def test_a_session_without_the_setting_never_loads_postgresqls_library(point: Point) -> None:
    point()
    session = (
        "import asyncio, os, sys; from tradetui.commands.session.open_profile import OpenProfile, load, Flags\n"
        "async def session():\n"
        "    desk = OpenProfile(load(os.environ, Flags())).desk(); desk.start(()); await desk.stop()\n"
        "asyncio.run(session()); print('psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", session], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_store_that_is_not_there_is_named_with_its_reason(
    use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna", "nowhere")
    assert main(["store", "status"]) == 1
    assert 'database "nowhere" does not exist' in capsys.readouterr().err
    assert checks(capsys)["store"]["remedy"]


@pytest.mark.parametrize(
    ("person", "failed", "remedy"),
    [
        ("anna", "store account", "store join"),
        ("vera", "store role", "GRANT tradetui_trader"),
        ("nora", "store role", "GRANT"),
    ],
)
def test_doctor_names_what_is_missing_with_its_remedy(
    use: Use, person: str, failed: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    use(person)
    by_name = checks(capsys)
    assert remedy in str(by_name[failed]["remedy"])
    assert by_name["store"]["ok"] and "PostgreSQL" in str(by_name["store"]["found"])
    assert "on this machine" in str(by_name["store TLS"]["found"])


def test_where_the_uid_is_not_known_doctor_says_to_set_it_before_joining(
    use: Use, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    monkeypatch.setattr(OpenProfile, "account", OpenProfile.presumed_account)
    assert "Set uid in the profile, then run tradetui store join" in str(checks(capsys)["store account"]["remedy"])


def test_a_person_without_a_role_reads_the_grant_to_ask_for(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use("nora")
    assert main(["store", "join"]) == 1
    assert 'nora may not do this; the owner runs GRANT tradetui_trader TO "nora"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        ('root certificate file "/root.crt" does not exist\nEither provide the file or …', "sslrootcert=FILE"),
        ("SSL error: certificate verify failed", "sslrootcert=FILE"),
        ('server certificate for "desk.example" does not match host name "192.0.2.2"', "hostaddr=ADDRESS"),
        ("server does not support SSL, but SSL was required", "SSH"),
        ("failed to resolve host 'desk.example': [Errno -2] Name or service not known", "correct host"),
        ('connection to server at "127.0.0.1", port 5433 failed: Connection refused', "host and port"),
        ('FATAL:  database "desk" does not exist', "correct store"),
        ('FATAL:  role "anna" is not permitted to log in', "ALTER ROLE"),
        ("connection to server failed: session is read-only", "primary server"),
        ('FATAL:  too many connections for role "anna"', "two connections"),
        ("FATAL:  remaining connection slots are reserved for superusers", "max_connections"),
        ('FATAL:  no pg_hba.conf entry for host "192.0.2.9", user "anna"', "pg_hba.conf"),
    ],
)
def test_why_the_server_cannot_be_reached_comes_with_what_to_do(problem: str, remedy: str) -> None:
    sentence = libpq_reason(psycopg.OperationalError(problem))
    assert sentence.startswith(f"{problem.splitlines()[0]}; ") and remedy in sentence


@pytest.mark.parametrize(
    ("password", "remedy"),
    [
        (None, "write the line HOST:PORT:DATABASE:USER:PASSWORD into ~/.pgpass"),
        ("wrong", "correct the password in ~/.pgpass"),
        ("secret", None),
    ],
)
def test_a_server_that_wants_a_password_is_answered_with_where_to_write_it(
    use: Use,
    store_database: StoreDatabase,
    password: str | None,
    remedy: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster, database = store_database.cluster, store_database.name
    hba = cluster.directory / "data" / "pg_hba.conf"
    hba.write_text(f"host {database} all 127.0.0.1/32 scram-sha-256\n" + hba.read_text())
    cluster.run("pg_ctl", "-D", hba.parent, "reload")
    store_database.sql("alter role anna password 'secret'")
    use("anna")
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tradetui" / "config.toml"
    config.write_text(config.read_text().replace(f"host={cluster.directory}", "host=127.0.0.1"))
    if password is not None:
        passwords = Path(os.environ["HOME"]) / ".pgpass"
        passwords.write_text(f"127.0.0.1:{cluster.port}:{database}:anna:{password}\n")
        passwords.chmod(0o600)
    assert main(["store", "join"]) == (0 if remedy is None else 1)
    if remedy is None:
        assert checks(capsys)["store"]["ok"]
        return
    assert remedy in capsys.readouterr().err
    assert remedy.lower() in str(checks(capsys)["store"]["remedy"]).lower()
    assert remedy in asyncio.run(trouble_of_a_session())
    assert main(["store", "init"]) == 1
    assert remedy in capsys.readouterr().err


def test_of_several_addresses_the_last_ones_answer_is_said() -> None:
    problem = psycopg.OperationalError(
        "Multiple connection attempts failed. All failures were:\n"
        "- host: 'localhost', port: '5432', hostaddr: '::1': connection failed: Connection refused\n"
        "- host: 'localhost', port: '5432', hostaddr: '127.0.0.1': connection failed: fe_sendauth: no password supplied"
    )
    assert libpq_reason(problem).startswith("fe_sendauth: no password supplied; write the line")


def test_an_empty_setting_is_called_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "init", ""]) == 2
    assert "is empty" in capsys.readouterr().err


@pytest.mark.parametrize(("version", "remedy"), [(99, "Install the newer tradetui"), (0, "store init")])
def test_doctor_tells_a_newer_schema_from_an_older_one(
    use: Use, store_database: StoreDatabase, version: int, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    store_database.sql(f"delete from tradetui.schema_version; insert into tradetui.schema_version values ({version})")
    assert remedy in str(checks(capsys)["store schema"]["remedy"])


async def trouble_of_a_session() -> str:
    """Open the profile's session and return why nothing can be sent once its store has answered."""
    desk, look, looked = OpenProfile(load(os.environ, Flags())).desk(), SharedAccount.look, asyncio.Event()

    async def looking(shared: SharedAccount) -> None:
        try:
            await look(shared)
        finally:
            looked.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SharedAccount, "look", looking)
        desk.start(())
        try:
            assert desk.intents is not None
            async with asyncio.timeout(20):
                await looked.wait()
                while "being compared" in desk.intents.store_trouble:
                    looked.clear()
                    await looked.wait()
            return desk.intents.store_trouble
        finally:
            await desk.stop()


def test_a_session_sends_with_the_store_once_its_machine_has_joined(use: Use) -> None:
    use("anna")
    assert "has not joined this account" in asyncio.run(trouble_of_a_session())
    assert main(["store", "join"]) == 0
    assert asyncio.run(trouble_of_a_session()) == ""


def begin_here(scope: str = "USDT-FUTURES|BTCUSDT", intent: str = "tt-1") -> None:
    """Write an intent whose outcome is unknown into the local journal."""
    profile = open_privately(os.environ, Flags())
    with closing(open_journal(profile.journal)) as journal:
        journal.begin(intent, profile.account.name, scope, "reversal", {"title": "Reverse BTCUSDT"}, Moment(1))
        journal.step(intent, State.SENT, {}, Moment(2))
        journal.step(intent, State.UNKNOWN, {"why": "no reply"}, Moment(3))


def end_here(intent: str = "tt-1") -> None:
    with closing(open_journal(open_privately(os.environ, Flags()).journal)) as journal:
        journal.step(intent, State.SETTLED, {"outcome": "reversed"}, Moment(4))


def test_who_joins_enters_what_is_open_and_leaves_once_it_has_ended(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    begin_here()
    assert main(["store", "join"]) == 0
    text = capsys.readouterr().out
    assert "anna@desk1 has joined account 4100000001 in the store; open here: BTCUSDT." in text
    assert "end it and start it again" in text and "may only view" not in text
    assert store_database.sql("select id, state, open from tradetui.intent") == [("tt-1", "unknown", True)]
    assert main(["store", "status"]) == 0
    text = capsys.readouterr().out
    assert "BTCUSDT unknown for" in text and "anna@desk1, last seen 0 s ago" in text
    assert main(["store", "leave"]) == 1
    assert "settled or released first" in capsys.readouterr().err
    end_here()
    assert main(["store", "join"]) == 0
    assert store_database.sql("select state, open from tradetui.intent") == [("settled", False)]
    assert "start it again" not in capsys.readouterr().out, "it had joined before"
    assert main(["store", "leave"]) == 0
    text = capsys.readouterr().out
    assert "anna@desk1 has left account 4100000001." in text and "end it and start it again" in text
    assert not open_privately(os.environ, Flags()).journal.file.with_name(MARK_FILE).exists()
    assert main(["store", "leave"]) == 0
    text = capsys.readouterr().out
    assert "anna@desk1 had not joined account 4100000001." in text and "start it again" not in text


def bob_joins_and_begins(use: Use, database: StoreDatabase) -> None:
    use("bob")
    assert main(["store", "join"]) == 0
    bob_begins(database)


def test_nobody_leaves_while_a_colleague_has_something_open(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    bob_joins_and_begins(use, store_database)
    use("anna")
    assert (main(["store", "join"]), main(["store", "leave"])) == (0, 1)
    assert "Have it settled or released first: tradetui journal shows it." in capsys.readouterr().err


def test_doctor_says_that_the_profile_of_a_machine_that_has_joined_names_no_store(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tradetui" / "config.toml"
    with_store = config.read_text()
    config.write_text("".join(line for line in with_store.splitlines(True) if not line.startswith("store")))
    assert checks(capsys)["store"]["remedy"] == (
        "Set store in the profile again. To work without it, first set it, then run tradetui store leave."
    )
    assert main(["store", "leave"]) == 2
    config.write_text(with_store)
    assert main(["store", "leave"]) == 0


def test_who_may_only_view_is_told_so_at_joining_with_who_can_change_it(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    use("vera")
    assert main(["store", "join"]) == 0
    text = capsys.readouterr().out
    assert "vera may only view this account: nothing can be sent from here." in text
    assert 'ask the owner of the store to run GRANT tradetui_trader TO "vera".' in text


def test_a_lock_that_keeps_a_machine_from_leaving_is_removed_in_the_program(
    use: Use, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    profile = open_privately(os.environ, Flags())
    asyncio.run(lock_trading(profile, profile.account.name))
    assert main(["store", "leave"]) == 1
    assert "Remove your lock first: press L in tradetui." in capsys.readouterr().err


async def lock_trading(profile: OpenProfile, account: str) -> None:
    server = profile.store_server()
    assert server is not None
    await server.open()
    await server.call("lock_trading", account, True, profile.machine)
    await server.aclose()


def bob_begins(database: StoreDatabase, *states: str) -> None:
    """Bob, who has joined by this directory, begins an intent on BTCUSDT and takes it through these states."""
    [(account, installation)] = database.sql("select account, installation from tradetui.machine where person = 'bob'")
    details = '{"title": "Reverse BTCUSDT LONG"}'
    intent = f"'b-1', '{account}', 'USDT-FUTURES|BTCUSDT', 'reversal', '{details}', null, 'desk1'"
    calls = [f"select set_config('tradetui.installation', '{installation}', false)"]
    calls += [f"select tradetui.begin_intent({len(versions())}, {intent})"]
    for state in states:
        step = f"'b-1', 'b {state}', '{state}', '{{}}', null, null, 'desk1'"
        calls.append(f"select tradetui.step_intent({len(versions())}, {step})")
    database.sql("; ".join(calls), "bob")


def test_journal_lists_what_every_machine_has_sent_and_who_began_and_ended_it(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("bob")
    assert main(["store", "join"]) == 0
    assert main(["journal"]) == 0
    assert "from any machine that shares the store" in capsys.readouterr().err
    bob_begins(store_database, "sent")
    use("anna")
    begin_here("USDT-FUTURES|ETHUSDT")
    assert main(["store", "join"]) == 0
    capsys.readouterr()
    assert main(["journal"]) == 3
    text = capsys.readouterr().out
    assert "Reverse BTCUSDT LONG · bob@desk1" in text and "Reverse BTCUSDT · anna@desk1" in text
    assert main(["journal", "--json"]) == 3
    intents = {intent["id"]: intent for intent in json.loads(capsys.readouterr().out)}
    assert [event["by"] for event in intents["b-1"]["events"]] == ["bob@desk1", "bob@desk1"]
    assert {event["by"] for event in intents["tt-1"]["events"]} == {"anna@desk1"}


def test_journal_names_who_ended_the_intent_of_another_person(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    begin_here()
    assert main(["store", "join"]) == 0
    store_database.sql("""update tradetui.event set person = 'bob', machine = 'laptop'""")
    end_here()
    assert main(["store", "join"]) == 0
    capsys.readouterr()
    assert main(["journal"]) == 0
    text = capsys.readouterr().out
    assert "Reverse BTCUSDT · bob@laptop" in text and "settled by anna@desk1" in text


def test_journal_says_that_it_lists_this_machine_alone_while_the_store_is_away(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("bob")
    assert main(["store", "join"]) == 0
    bob_begins(store_database, "withdrawn")
    begin_here("USDT-FUTURES|ETHUSDT")
    end_here()
    use("bob", "nowhere")  # as if it were away
    capsys.readouterr()
    assert main(["journal"]) == 3, "nobody knows whether all is settled"
    captured = capsys.readouterr()
    assert "tt-1" in captured.out and "b-1" not in captured.out
    assert "the store cannot be reached" in captured.err and "Only what this machine's journal has" in captured.err


def test_an_older_copy_of_the_store_is_named_by_doctor_and_status(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("bob")
    assert main(["store", "join"]) == 0
    bob_begins(store_database, "withdrawn")
    assert main(["store", "join"]) == 0
    assert checks(capsys)["store history"]["ok"]
    assert main(["store", "status"]) == 0
    store_database.sql(
        "delete from tradetui.event; delete from tradetui.intent; update tradetui.account set version = 0"
    )
    history = checks(capsys)["store history"]
    assert not history["ok"] and "lacks a step that this machine saw there at" in str(history["found"])
    assert "press L in tradetui and accept the older copy" in str(history["remedy"])
    assert main(["store", "status"]) == 3
    assert "went back in time" in capsys.readouterr().out
    assert main(["store", "status", "--json"]) == 3
    assert "went back in time" in json.loads(capsys.readouterr().out)["accounts"][0]["older_copy"]
    assert main(["store", "join"]) == 3
    assert "press L in tradetui" in capsys.readouterr().err


def test_an_admin_removes_the_lock_of_a_person_who_cannot(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    profile = open_privately(os.environ, Flags())
    asyncio.run(lock_trading(profile, profile.account.name))
    assert main(["store", "unlock", "anna"]) == 1
    assert "GRANT tradetui_admin TO anna" in capsys.readouterr().err
    use("olga")
    assert main(["store", "unlock"]) == 2
    assert main(["store", "unlock", "bob"]) == 1
    captured = capsys.readouterr()
    assert "bob has not locked trading" in captured.err and "an admin with tradetui store unlock anna" in captured.out
    assert main(["store", "unlock", "anna"]) == 0
    assert "The lock of anna on account 4100000001 is removed" in capsys.readouterr().out
    assert store_database.sql("select * from tradetui.trading_lock") == []


def test_an_admin_removes_a_machine_that_is_lost(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    assert main(["store", "remove", "anna@desk1"]) == 1
    assert "GRANT tradetui_admin TO anna" in capsys.readouterr().err
    use("olga")
    assert main(["store", "remove", "anna"]) == 2
    assert main(["store", "remove", "anna@desk2"]) == 1
    assert "anna@desk2 has not joined account 4100000001" in capsys.readouterr().err
    assert main(["store", "remove", "anna@desk1"]) == 0
    assert "anna@desk1 is removed from account 4100000001." in capsys.readouterr().out
    use("anna")
    assert main(["store", "status"]) == 0
    assert "You have not joined an account yet" in capsys.readouterr().err


def test_what_another_machine_has_open_on_the_symbol_is_named_and_enters_later(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    bob_joins_and_begins(use, store_database)
    use("anna")
    begin_here()
    capsys.readouterr()
    assert main(["store", "join"]) == 0
    assert "BTCUSDT is open here (tt-1) and there (b-1, intended" in capsys.readouterr().err


def test_a_machine_that_joined_sends_nothing_without_the_store(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    profile = open_privately(os.environ, Flags())

    async def trouble() -> str:
        intents = Intents(None, InlineDisk(), SystemClock(), "", lambda: "tt-2", start_locked=False)
        await intents.open(profile.account.name, profile.journal)
        return str(intents.trouble)

    assert profile.account.known
    assert "store leave" in asyncio.run(trouble())


def test_a_second_installation_of_the_same_name_is_refused_whatever_it_does(
    use: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    assert (main(["store", "join"]), main(["store", "join"])) == (0, 0), "the same installation joins again"
    first = os.environ["TRADETUI_DATA_DIR"]
    monkeypatch.setenv("TRADETUI_DATA_DIR", str(tmp_path / "copied configuration"))
    capsys.readouterr()
    refused = 'another installation already works here as anna@desk1; write machine = "…" with another name'
    assert refused in asyncio.run(trouble_of_a_session())
    assert "machine =" in str(checks(capsys)["store account"]["remedy"])
    for action in ("leave", "join"):
        assert main(["store", action]) == 1
        assert refused in capsys.readouterr().err
    monkeypatch.setenv("TRADETUI_DATA_DIR", first)
    assert main(["store", "leave"]) == 0, "the first one is there still"


def test_a_second_address_of_the_exchange_is_refused_with_the_first_one_and_who_is_there(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    store_database.sql(
        "insert into tradetui.account select 'other', 'https://exchange.example', environment, uid"
        " from tradetui.account; update tradetui.machine set account = 'other'; select 1"
    )
    use("bob")
    assert main(["store", "join"]) == 1
    refused = capsys.readouterr().err
    assert "account 4100000001" in refused and "anna@desk1" in refused and "store remove" in refused
    assert 'write base_url = "https://exchange.example" into the profile' in refused


def test_a_data_directory_that_cannot_be_written_is_named_before_anything_is_joined(
    use: Use, store_database: StoreDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tradetui.commands.session.open_profile.write_text", full)
        assert main(["store", "join"]) == 2
        assert "cannot be written (No space left on device). Make it writable" in capsys.readouterr().err
        assert store_database.sql("select count(*) from tradetui.machine") == [(0,)]
    monkeypatch.setattr("tradetui.desk.intents.journal.store_mark.write_text", full)
    assert main(["store", "join"]) == 3
    assert "No space left on device): check the disk and the data directory" in capsys.readouterr().err


def test_a_lost_journal_is_named_before_anything_is_joined(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    begin_here()
    open_privately(os.environ, Flags()).journal.file.write_bytes(b"no database" * 500)
    assert main(["store", "join"]) == 2
    refused = capsys.readouterr().err
    assert "damaged" in refused and "tradetui journal --accept-loss" in refused
    assert store_database.sql("select count(*) from tradetui.machine") == [(0,)]


def test_a_person_without_a_role_does_not_leave_what_may_be_open(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    begin_here()
    assert main(["store", "join"]) == 0
    store_database.sql("revoke tradetui_trader from anna")
    try:
        assert main(["store", "leave"]) == 1
    finally:
        store_database.sql("grant tradetui_trader to anna")
    assert "GRANT tradetui_trader" in capsys.readouterr().err
    assert open_privately(os.environ, Flags()).journal.file.with_name(MARK_FILE).exists()
    end_here()
    assert (main(["store", "join"]), main(["store", "leave"])) == (0, 0)


def test_a_store_that_is_gone_for_good_can_be_left_by_hand(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use("anna", "nowhere")
    assert main(["store", "leave"]) == 1
    assert MARK_FILE in capsys.readouterr().err


async def test_the_rows_of_an_overview_count_their_calls_with_all_machines(
    use: Use, store_database: StoreDatabase
) -> None:
    use("anna")
    add_profile("other")
    assert await asyncio.to_thread(main, ["store", "join", "--profile", "main"]) == 0
    account = await asyncio.to_thread(lambda: OpenProfile(load(os.environ, Flags(profile="main"))).account.name)
    [(joined,)] = store_database.sql("select clock_timestamp()")
    profiles = OverviewProfiles(os.environ, Flags())
    overview = profiles.overview()
    clients = [source.open().client for source in profiles.sources()]
    for client in clients:
        client.budget.account = account
        await client.futures.accounts(product_type=ProductType.USDT_FUTURES)
    [(state,)] = store_database.sql(f"select state from tradetui.quota where key = '{account}|futures.accounts'")
    assert json.loads(state)[4] == len(clients), "granted by the store"
    assert store_database.sql("select count(*) from tradetui.permit_session") == [(len(clients),)]
    connections = f"select count(*) from pg_stat_activity where usename = 'anna' and backend_start > '{joined}'"
    assert store_database.sql(connections) == [(2,)], "of all rows together"
    for client in clients:
        await client.aclose()
    again = profiles.sources()[0].open().client
    await again.futures.accounts(product_type=ProductType.USDT_FUTURES)
    await again.aclose()
    await overview.stop()
    assert store_database.sql("select count(*) from tradetui.permit_session") == [(0,)]


def test_the_overviews_lock_reaches_other_machines_and_says_if_it_does_not(
    use: Use, store_database: StoreDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    use("anna")
    add_profile("other")
    assert main(["store", "join", "--profile", "main"]) == 0
    lock = OverviewProfiles(os.environ, Flags()).sources()[0].lock_trading
    account = OpenProfile(load(os.environ, Flags(profile="main"))).account
    assert lock is not None
    lock(account)
    assert main(["store", "status", "--profile", "main"]) == 0
    assert "anna@desk1" in next(line for line in capsys.readouterr().out.splitlines() if "lock" in line.lower())
    store_database.sql("delete from tradetui.machine")
    with pytest.raises(StoreAway, match="other machines do not know it"):
        lock(account)


def test_the_overviews_lock_reaches_other_machines_by_the_next_session_if_the_store_was_away(
    use: Use, store_database: StoreDatabase
) -> None:
    use("anna")
    assert main(["store", "join"]) == 0
    account = OpenProfile(load(os.environ, Flags())).account
    use("anna", "away")
    add_profile("other")
    lock = OverviewProfiles(os.environ, Flags()).sources()[0].lock_trading
    assert lock is not None
    with pytest.raises(StoreAway, match="other machines do not know it"):
        lock(account)
    use("anna")
    asyncio.run(trouble_of_a_session())
    assert store_database.sql("select person, machine from tradetui.trading_lock") == [("anna", "desk1")]
