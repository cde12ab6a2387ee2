"""`tradetui show overview`: a row for each profile, sums on standard error, and what a script gets."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from tests.commands.conftest import return_permits_soon
from tests.desk.fixtures.desk_simulation import Simulation
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE, USAGE
from tradetui.commands.session.overview_profiles import KeptFiles, OverviewProfiles
from tradetui.commands.session.screen_state import FileAlertChoices
from tradetui.desk.events.rules import DEFAULT_RULES, AlertChoices, Condition, RuleKind, rule_of
from tradetui.desk.intents.journal.registered_journal import RegisteredJournal, existing_journal
from tradetui.desk.intents.locks import StepWriters
from tradetui.desk.trading_session import journal_location
from tradetui.exchange.client import TradingClient
from tradetui.profiles.load import Flags
from tradetui.wire.product_types import ProductType

LOST: Final = rule_of(Condition(RuleKind.LINK_LOST))


@pytest.fixture
def config(server: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A configuration of three accounts of the sandbox, of which the last may only read."""
    return_permits_soon(monkeypatch)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "TRADETUI_RUNTIME_DIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    tables = []
    for name in ("hedge", "coin", "one-way"):
        key = next(profile for profile in server["profiles"] if profile["name"] == name)
        key_file = tmp_path / f"{name}.toml"
        key_file.write_text("".join(f'{part} = "{key[part]}"\n' for part in ("api_key", "secret", "passphrase")))
        key_file.chmod(0o600)
        mode = "monitor" if name == "one-way" else "trade"
        tables.append(
            f'[profiles.{name}]\nbase_url = "{server["base_url"]}"\nmode = "{mode}"\ndata_dir = "{tmp_path / "data"}"\n'
            f'credentials = {{ source = "file", path = "{key_file}" }}\n'
        )
    file = tmp_path / "config.toml"
    file.write_text("\n".join(tables))
    return file


def add_to(config: Path, text: str) -> None:
    config.write_text(f"{config.read_text()}\n{text}")


def test_each_profile_is_a_row_and_the_sums_say_how_many_they_hold(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "overview", "--json", "--config", str(config)]) == DONE
    printed = capsys.readouterr()
    rows = {row["name"]: row for row in json.loads(printed.out)}
    assert set(rows) == {"hedge", "coin", "one-way"}
    assert all(row["state"] == "ok" and Decimal(row["equity"]) > 0 for row in rows.values())
    assert {name: row["access"] for name, row in rows.items()} == {
        "hedge": "trade",
        "coin": "trade",
        "one-way": "monitor",
    }
    assert rows["hedge"]["unknownOutcomes"] == [] and rows["hedge"]["today"] is None
    assert "LIVE 3 of 3 accounts" in printed.err


def test_csv_has_the_columns_of_the_screen(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "overview", "--csv", "--profiles", "coin,hedge", "--config", str(config)]) == DONE
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == ["coin", "hedge"]
    assert all(Decimal(row["marginRatio"]) >= 0 for row in rows)


def test_an_account_that_cannot_be_opened_is_named_and_the_exit_code_says_so(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_to(config, '[profiles.lost]\nbase_url = "http://127.0.0.1:9"\nuid = 7\n')
    assert main(["show", "overview", "--json", "--config", str(config)]) == ATTENTION
    printed = capsys.readouterr()
    first = json.loads(printed.out)[0]
    assert (first["name"], first["state"]) == ("lost", "not open")
    assert "uid" in first["problem"] and "3 of 4 accounts (lost: not read yet)" in printed.err


def test_without_a_second_profile_it_says_how_to_make_one(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "overview", "--profiles", "hedge", "--config", str(config)]) == USAGE
    assert "tradetui init --profile NAME" in capsys.readouterr().err
    assert main(["show", "overview", "--profiles", "hedge,none", "--config", str(config)]) == USAGE
    assert "there is no profile 'none'" in capsys.readouterr().err


async def test_every_client_of_it_has_a_transport_that_refuses_to_write(config: Path) -> None:
    profiles = OverviewProfiles({"TRADETUI_RUNTIME_DIR": str(config.parent / "run")}, Flags(config=config))
    overview = profiles.overview()
    for source in profiles.sources():
        opened = source.open()
        assert not isinstance(opened.client, TradingClient) and not hasattr(opened.client, "write")
        await opened.client.aclose()
    await overview.stop()


async def test_a_row_alerts_by_the_rules_of_its_profile_that_nobody_has_silenced(config: Path) -> None:
    add_to(config, '[[profiles.one-way.alerts]]\nwhen = "liquidation_nearer"\npercent = 5\n')
    FileAlertChoices(config.parent / "data", "coin").write(AlertChoices(frozenset({LOST.name})))
    profiles = OverviewProfiles({"TRADETUI_RUNTIME_DIR": str(config.parent / "run")}, Flags(config=config))
    overview = profiles.overview()
    rules = {}
    for source in profiles.sources():
        opened = source.open()
        rules[source.name] = set(opened.rules)
        await opened.client.aclose()
    assert rules["hedge"] == set(DEFAULT_RULES)
    assert rules["coin"] == set(DEFAULT_RULES) - {LOST}
    assert {rule.condition.kind for rule in rules["one-way"] - set(DEFAULT_RULES)} == {RuleKind.LIQUIDATION_NEARER}
    await overview.stop()


async def test_a_lock_is_in_the_journal_that_every_session_of_the_account_obeys(config: Path) -> None:
    environ = {"TRADETUI_RUNTIME_DIR": str(config.parent / "run"), "XDG_STATE_HOME": str(config.parent / "state")}
    profiles = OverviewProfiles(environ, Flags(config=config))
    overview = profiles.overview()
    hedge, _, monitor = profiles.sources()
    assert hedge.lock_trading is not None and monitor.lock_trading is None
    opened = hedge.open()
    hedge.lock_trading(None)
    assert opened.presumed is not None
    journal = existing_journal(journal_location(opened.settings, opened.presumed))
    assert isinstance(journal, RegisteredJournal) and journal.trading_locked()
    journal.check()
    assert journal.notice == "", "it is in the list of journals"
    journal.close()
    assert opened.kept is not None and opened.kept.read(opened.presumed, 0).is_locked
    await opened.client.aclose()
    await overview.stop()


def test_the_screen_of_one_profile_says_how_to_make_another(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["overview", "--profiles", "hedge", "--config", str(config)]) == USAGE
    assert "tradetui init --profile NAME" in capsys.readouterr().err


@pytest.mark.looptime
async def test_the_day_s_opening_is_that_of_the_sessions_that_ran(tmp_path: Path) -> None:
    simulation = Simulation(1, fills=40, data_dir=tmp_path, jitter=False, product_types=(ProductType.USDT_FUTURES,))
    desk = simulation.desk
    desk.start()
    await asyncio.sleep(240)
    account, now_ms, today = desk.account, desk.client.server_clock.now_ms, desk.today()
    await desk.stop()
    assert account is not None and today is not None
    kept = KeptFiles(desk.settings, StepWriters(simulation.clock)).read(account, now_ms)
    assert kept.problem == "" and kept.unknown_outcomes == () and kept.opening is not None
    equity = desk.totals().equity
    assert equity is not None
    result = kept.opening.result(equity)
    assert result.since is not None, "no session ran when the day began, so that it is no result of today"
    assert result.amount == today.amount
