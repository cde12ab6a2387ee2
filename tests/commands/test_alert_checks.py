"""What doctor says of alerts: rules that cannot fire, and whether a notification reaches the desktop."""

from __future__ import annotations

import asyncio
import os
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tradetui.commands.session.alert_checks import (
    AlertEvidence,
    escape_note,
    read_alert_evidence,
    rules_finding,
    try_desktop,
)
from tradetui.commands.session.open_profile import OpenProfile, environment_without_secrets, profile_rules
from tradetui.commands.session.screen_state import FileAlertChoices
from tradetui.desk.events.rules import (
    DEFAULT_RULES,
    AlertChoices,
    Channel,
    Condition,
    Direction,
    RuleKind,
    rule_of,
)
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import (
    AuthenticationFailed,
    Busy,
    EndpointMissing,
    ExchangeError,
    RateLimited,
    Rejected,
    Unreachable,
    UnreadableReply,
)
from tradetui.profiles.alert_entry import AlertRule
from tradetui.profiles.load import Flags, load
from tradetui.profiles.model import Profile
from tradetui.wire.endpoints.reply import Reply, UndecodableRow
from tradetui.wire.models.futures_accounts import FuturesAccount

BASE = '[profiles.main]\nbase_url = "https://x.example"\nmode = "trade"\nproduct_types = ["USDT-FUTURES"]\n'
DESKTOP = 'alerts = [{ when = "fill", to = ["desktop"] }]\n'


def opened(tmp_path: Path, settings: str) -> OpenProfile:
    config = tmp_path / "config.toml"
    config.write_text(BASE + settings)
    return OpenProfile(load({}, Flags(config=config, data_dir=tmp_path)))


@pytest.mark.parametrize(
    ("rule", "symbols", "tickers", "fault"),
    [
        (
            'when = "fill", symbol = "BTCUSD"',
            None,
            True,
            "'fill of BTCUSD' cannot fire: symbol BTCUSD is in none of",
        ),
        ('when = "fill", symbol = "XYZUSDT"', {"BTCUSDT"}, True, "cannot fire: symbol XYZUSDT is in none of"),
        ('when = "fill", symbol = "BTCUSDT"', {"BTCUSDT"}, True, None),
        ('when = "margin_ratio_above", percent = 120', None, True, "the exchange liquidates at 100 %"),
        ('when = "price_crosses", symbol = "BTCUSDT", price = 9', None, False, "the exchange serves no ticker"),
        ('when = "price_crosses", symbol = "BTCUSDT", price = 9', None, True, None),
        ('when = "outcome_unknown"', None, True, None),
        ('when = "today_result_below", percent = -120', None, True, "an account has nothing left at -100 %"),
        ('when = "today_result_below", percent = -2', None, True, None),
        ('when = "today_result_below", amount = -120', None, True, None),
    ],
)
def test_a_rule_that_can_never_fire_is_named(
    tmp_path: Path, rule: str, symbols: set[str] | None, tickers: bool, fault: str | None
) -> None:
    profile = opened(tmp_path, f"alerts = [{{ {rule} }}]\n")
    evidence = AlertEvidence(None if symbols is None else frozenset(symbols), lacks_tickers=not tickers)
    finding = rules_finding(profile, evidence)
    assert bool(finding.remedy) == (fault is not None)
    assert (fault or "each can fire") in finding.finding


def test_an_alert_of_todays_result_cannot_fire_while_the_equity_is_not_known(tmp_path: Path) -> None:
    profile = opened(tmp_path, 'alerts = [{ when = "today_result_below", percent = -2 }]\n')
    account = FuturesAccount.from_row({"marginCoin": "BTC", "accountEquity": "0.5", "usdtEquity": ""})

    async def accounts(**_: object) -> Reply[FuturesAccount]:
        return Reply(rows=(account,))

    client: Any = SimpleNamespace(futures=SimpleNamespace(accounts=accounts))
    finding = rules_finding(profile, asyncio.run(read_alert_evidence(client, profile)))
    assert "cannot fire: the equity is not known, no USDT value of BTC" in finding.finding


def answering(answer: Reply[Any] | ExchangeError) -> Any:
    """A client to whose every call of the alerts' checks the exchange gives this answer."""

    async def call(**_: object) -> Reply[Any]:
        if isinstance(answer, ExchangeError):
            raise answer
        return answer

    return SimpleNamespace(futures=SimpleNamespace(accounts=call, contracts=call, ticker=call))


@pytest.mark.parametrize(
    "refusal",
    [
        *(RateLimited("429"), Busy("503"), AuthenticationFailed("40006"), UnreadableReply("not JSON")),
        *(Rejected("40034"), Unreachable("no answer")),
    ],
    ids=lambda refusal: type(refusal).__name__,
)
def test_an_error_of_the_exchange_rules_no_alert_out(tmp_path: Path, refusal: ExchangeError) -> None:
    rules = (
        '{ when = "price_crosses", symbol = "BTCUSDT", price = 9 }',
        '{ when = "today_result_below", percent = -2 }',
    )
    profile = opened(tmp_path, f"alerts = [{', '.join(rules)}]\n")
    finding = rules_finding(profile, asyncio.run(read_alert_evidence(answering(refusal), profile)))
    assert (finding.finding, finding.remedy) == ("7 alerts, each can fire", "")


def test_only_an_exchange_without_the_endpoint_serves_no_ticker(tmp_path: Path) -> None:
    profile = opened(tmp_path, 'alerts = [{ when = "price_crosses", symbol = "BTCUSDT", price = 9 }]\n')
    evidence = asyncio.run(read_alert_evidence(answering(EndpointMissing("404")), profile))
    assert "the exchange serves no ticker" in rules_finding(profile, evidence).finding


@pytest.mark.parametrize("lost_at", ["contracts", "ticker", "accounts"])
def test_an_exchange_that_cannot_be_reached_is_waited_for_once(tmp_path: Path, lost_at: str) -> None:
    rules = [f'{{ when = "price_crosses", symbol = "{symbol}USDT", price = 9 }}' for symbol in ("BTC", "ETH", "SOL")]
    rules.append('{ when = "today_result_below", percent = -2 }')
    profile = opened(tmp_path, f"alerts = [{', '.join(rules)}]\n")
    lost_calls: list[str] = []

    def answering_until(endpoint: str) -> Any:
        async def call(**_: object) -> Reply[Any]:
            if endpoint == lost_at or lost_calls:
                lost_calls.append(endpoint)
                raise Unreachable("no answer")
            return Reply(rows=(SimpleNamespace(symbol="BTCUSDT"),)) if endpoint == "contracts" else Reply(rows=())

        return call

    endpoints = {endpoint: answering_until(endpoint) for endpoint in ("contracts", "ticker", "accounts")}
    client: Any = SimpleNamespace(futures=SimpleNamespace(**endpoints))
    evidence = asyncio.run(read_alert_evidence(client, profile))
    assert lost_calls == [lost_at]
    assert evidence.symbols == (None if lost_at == "contracts" else {"BTCUSDT"}), "what was read before stands"


def test_a_contract_that_cannot_be_read_may_be_the_one_of_an_alert(tmp_path: Path) -> None:
    profile = opened(tmp_path, 'alerts = [{ when = "fill", symbol = "NEWUSDT" }]\n')
    others = (SimpleNamespace(symbol="BTCUSDT"),)
    listed: Any = Reply(rows=others)
    assert rules_finding(profile, asyncio.run(read_alert_evidence(answering(listed), profile))).remedy
    partly: Any = Reply(rows=others, undecodable_rows=(UndecodableRow(1, "no symbol", {}),))
    assert not rules_finding(profile, asyncio.run(read_alert_evidence(answering(partly), profile))).remedy


def test_in_monitor_mode_no_outcome_is_ever_unknown(tmp_path: Path) -> None:
    rule, config = 'alerts = [{ when = "outcome_unknown" }]\n', tmp_path / "config.toml"
    config.write_text((BASE + rule).replace('"trade"', '"monitor"'))
    finding = rules_finding(OpenProfile(load({}, Flags(config=config))), AlertEvidence())
    assert "monitor mode sends no reversal" in finding.finding
    config.write_text(BASE.replace('"trade"', '"monitor"'))
    finding = rules_finding(OpenProfile(load({}, Flags(config=config))), AlertEvidence())
    assert not finding.remedy, "nobody wrote the default rules"


def fake_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, answer: str | None) -> None:
    option = "exit 1" if answer is None else f"echo {answer}"
    cases = f'"show-options -pAv allow-passthrough") {option};; "display-message -p #{{version}}") echo {version};;'
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} *) exit 9;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("answer", "environ", "warns"),
    [
        ("500", {"TMUX": "socket,1,0"}, True),
        ("10", {"TMUX": "socket,1,0"}, False),
        ("", {"TMUX": "socket,1,0"}, False),
        ("500", {}, False),
    ],
)
def test_a_tmux_that_takes_esc_and_the_next_key_for_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, environ: dict[str, str], warns: bool
) -> None:
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\n[ "$*" = "show-options -sv escape-time" ] && echo "{answer}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert ("waits 500 ms after Esc" in escape_note(environ)) == warns
    assert bool(escape_note(environ)) == warns


@pytest.mark.parametrize(
    ("version", "answer", "passthrough"),
    [
        ("3.4", "all", None),
        ("3.4", "on", "all"),
        ("3.10", "off", "all"),
        ("next-3.6", "off", "all"),
        ("4.0", "off", "all"),
        ("3.3a", "on", None),
        ("3.3a", "off", "on"),
        ("3.2", None, None),
    ],
)
def test_tmux_is_to_pass_it_on_from_every_window_as_far_as_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, answer: str | None, passthrough: str | None
) -> None:
    fake_tmux(tmp_path, monkeypatch, version, answer)
    finding = try_desktop(opened(tmp_path, DESKTOP), {"TMUX": "socket,1,0"}, sends_test=False)
    assert (finding.remedy == "") == (passthrough is None)
    assert passthrough is None or f"set -g allow-passthrough {passthrough}`" in finding.remedy


def test_a_test_goes_to_the_terminal_and_to_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = opened(tmp_path, DESKTOP + 'desktop_notification = "osc777"\n')
    assert "no test is sent" in try_desktop(profile, {}, sends_test=False).finding
    assert capsys.readouterr().out == ""
    assert "a test was sent" in try_desktop(profile, {}, sends_test=True).finding
    out = capsys.readouterr().out
    assert out.startswith("\x1b]777;notify;tradetui;Test by tradetui doctor") and out.endswith("\a\a")
    assert "no alert goes to the desktop" in try_desktop(opened(tmp_path, ""), {}, sends_test=True).finding
    assert capsys.readouterr().out == ""


def test_the_command_gets_no_credentials() -> None:
    environ: dict[str, Any] = {
        "PATH": "/bin",
        "TRADETUI_API_KEY": "k",
        "TRADETUI_DATA_DIR": "/x",
        "DESK_API_SECRET": "s",
        "DESK_PASSPHRASE": "p",
        "DESK_NAME": "mine",
        "COPY": "what is canary-secret here",
    }
    kept = environment_without_secrets(environ, "DESK", Credentials("canary-key", "canary-secret", "canary-pass"))
    assert kept == {"PATH": "/bin", "DESK_NAME": "mine"}


def test_silences_are_kept_by_profile_and_beside_what_else_is_chosen(tmp_path: Path) -> None:
    first, second = FileAlertChoices(tmp_path, "a"), FileAlertChoices(tmp_path, "b")
    silenced = frozenset({"fill", "a name with spaces, 5 %"})
    assert first.read() == AlertChoices()
    first.write(AlertChoices(silenced))
    second.write(AlertChoices(frozenset({"link lost"})))
    assert first.read() == AlertChoices(silenced)
    first.write(AlertChoices())
    assert (first.read(), second.read()) == (AlertChoices(), AlertChoices(frozenset({"link lost"})))
    (tmp_path / "state.toml").write_text('[profiles.a]\nsilenced = "fill"\nalerts = [{when = "no such kind"}, 3]\n')
    assert first.read() == AlertChoices(unreadable=({"when": "no such kind"}, 3))
    first.write(first.read()._replace(silenced=silenced))
    assert first.read() == AlertChoices(silenced, unreadable=({"when": "no such kind"}, 3)), "a newer version's stay"


@pytest.mark.parametrize(
    "condition",
    [
        Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(80)),
        Condition(RuleKind.LIQUIDATION_NEARER, "BTCUSDT", Decimal("2.5")),
        Condition(RuleKind.POSITION_RESULT_BELOW, "", Decimal(-500)),
        Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-2), is_percent=True),
        Condition(RuleKind.TODAY_RESULT_BELOW, level=Decimal(-900)),
        Condition(RuleKind.PRICE_CROSSES, "ETHUSDT", Decimal("3000.5"), Direction.DOWN),
        Condition(RuleKind.FILL, "SOLUSDT"),
    ],
)
def test_an_alert_made_on_the_screen_is_read_as_it_was_made(tmp_path: Path, condition: Condition) -> None:
    rules = (rule_of(condition), rule_of(condition, {Channel.DESKTOP}, "a name of its own"))
    FileAlertChoices(tmp_path, "a").write(AlertChoices(made=rules))
    assert FileAlertChoices(tmp_path, "a").read().made == rules


def test_the_check_is_of_those_made_on_the_screen_too(tmp_path: Path) -> None:
    profile = opened(tmp_path, "")
    made = rule_of(Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(100)))
    FileAlertChoices(profile.loaded.data_dir, profile.loaded.name).write(AlertChoices(made=(made,)))
    finding = rules_finding(profile, AlertEvidence())
    assert "'margin ratio above 100 %' cannot fire" in finding.finding


def test_own_alerts_add_to_the_default_ones_unless_these_are_taken_away() -> None:
    own = AlertRule(when=RuleKind.LIQUIDATION_NEARER, percent=Decimal(5))
    names = [rule.name for rule in profile_rules(Profile(base_url="https://x.example", alerts=(own,)))]
    assert names == [*(rule.name for rule in DEFAULT_RULES), "a position nearer than 5 % to liquidation"]
    alone = Profile(base_url="https://x.example", alerts=(own,), alerts_defaults=False)
    assert [rule.name for rule in profile_rules(alone)] == names[-1:]
    louder = Profile(base_url="https://x.example", alerts=(AlertRule(when=RuleKind.FILL, to=(Channel.DESKTOP,)),))
    assert [rule.channels for rule in profile_rules(louder) if rule.name == "fill"] == [frozenset({Channel.DESKTOP})]
