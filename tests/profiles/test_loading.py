"""Profiles: where settings come from, which beats which, and how a wrong one is reported."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from tradetui.desk.events.rules import Condition, RuleKind
from tradetui.profiles.alert_entry import AlertRule
from tradetui.profiles.errors import ConfigurationError, NoProfile
from tradetui.profiles.example_configuration import example_text
from tradetui.profiles.load import Flags, known_profiles, load
from tradetui.profiles.model import CredentialSource, Intervals, Profile

FULL = {
    "TRADETUI_BASE_URL": "https://exchange.example",
    "TRADETUI_API_KEY": "key",
    "TRADETUI_API_SECRET": "secret",
    "TRADETUI_PASSPHRASE": "passphrase1",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def written(config: Path, text: str) -> Flags:
    config.write_text(text, encoding="utf-8")
    return Flags(config=config)


def test_without_any_configuration_nothing_is_assumed(tmp_path: Path) -> None:
    with pytest.raises(NoProfile):
        load({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}, Flags())


def test_environment_alone_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    loaded = load(FULL, Flags())
    assert loaded.profile.base_url == "https://exchange.example"
    assert loaded.name == "environment"
    assert loaded.read_only, "a profile that does not choose trading can only read"


def test_credentials_and_an_address_of_a_flag_stand_for_a_profile_beside_several(config: Path) -> None:
    flags = written(
        config, '[profiles.one]\nbase_url = "https://one.example"\n[profiles.two]\nbase_url = "https://two.example"\n'
    )
    environ = {name: value for name, value in FULL.items() if name != "TRADETUI_BASE_URL"}
    with pytest.raises(ConfigurationError, match="several profiles"):
        load(environ, flags)
    loaded = load(environ, replace(flags, base_url="https://flag.example"))
    assert (loaded.name, loaded.profile.base_url) == ("environment", "https://flag.example")


def test_half_of_the_credentials_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(ConfigurationError, match="TRADETUI_PASSPHRASE"):
        load({**FULL, "TRADETUI_PASSPHRASE": ""}, Flags())


def test_environment_beats_file_and_flag_beats_environment(config: Path) -> None:
    written(config, '[profiles.main]\nbase_url = "https://file.example"\n')
    environ = {"TRADETUI_BASE_URL": "https://environment.example"}
    assert load({}, Flags(config=config)).profile.base_url == "https://file.example"
    assert load(environ, Flags(config=config)).profile.base_url == "https://environment.example"
    flags = Flags(config=config, base_url="https://flag.example", product_type="coin-futures")
    loaded = load(environ, flags)
    assert loaded.profile.base_url == "https://flag.example"
    assert loaded.profile.product_types == ("COIN-FUTURES",)


@pytest.mark.parametrize(
    ("environ", "flag", "mode", "read_only"),
    [
        ({}, False, "trade", False),
        ({}, False, "monitor", True),
        ({}, True, "trade", True),
        ({"TRADETUI_READ_ONLY": "1"}, False, "trade", True),
        ({"TRADETUI_READ_ONLY": "0"}, False, "monitor", True),
        ({"TRADETUI_READ_ONLY": "0"}, True, "trade", True),
    ],
)
def test_read_only_is_never_undone_by_a_weaker_word(
    config: Path, environ: dict[str, str], flag: bool, mode: str, read_only: bool
) -> None:
    written(config, f'[profiles.main]\nbase_url = "https://x.example"\nmode = "{mode}"\n')
    assert load(environ, Flags(config=config, read_only=flag)).read_only is read_only


def test_an_unreadable_read_only_word_stops_rather_than_trades(config: Path) -> None:
    flags = written(config, '[profiles.main]\nbase_url = "https://x.example"\nmode = "trade"\n')
    with pytest.raises(ConfigurationError, match="TRADETUI_READ_ONLY"):
        load({"TRADETUI_READ_ONLY": "maybe"}, flags)


def test_default_profile_and_choice(config: Path) -> None:
    text = 'default_profile = "b"\n[profiles.a]\nbase_url = "https://a.example"\n[profiles.b]\nbase_url = "https://b.example"\n'
    flags = written(config, text)
    assert load({}, flags).name == "b"
    assert load({"TRADETUI_PROFILE": "a"}, flags).name == "a"
    assert load({"TRADETUI_PROFILE": "a"}, Flags(config=config, profile="b")).name == "b"
    with pytest.raises(ConfigurationError, match=r"no profile 'aa'; did you mean a\? Profiles"):
        load({}, Flags(config=config, profile="aa"))


@pytest.mark.parametrize(
    ("text", "line", "key", "rule"),
    [
        ("\nprofils = 3\n", 2, "profils", "did you mean profiles\\?"),
        ("default_profile = 3\n", 1, "default_profile", "must be a profile's name in quotes"),
        ("\n\nprofiles = 3\n", 3, "profiles", r"must be tables \[profiles.NAME\]"),
        ("[profiles]\nmain = 3\n", 2, "profiles.main", r"must be a table \[profiles.NAME\]"),
        ('\ndefault_profile = "zzz"\n[profiles.main]\n', 2, "default_profile", "there is no profile 'zzz'"),
    ],
)
def test_what_is_wrong_around_the_profiles_is_named_with_its_line(
    config: Path, text: str, line: int, key: str, rule: str
) -> None:
    flags = written(config, text)
    with pytest.raises(ConfigurationError, match=rf"{config}:{line}: {key}: .*{rule}"):
        load({}, flags)


def test_profiles_written_beside_the_file_are_found(config: Path) -> None:
    flags = written(config, '[profiles.a]\nbase_url = "https://a.example"\n')
    beside = config.parent / "profiles.d"
    beside.mkdir()
    (beside / "second.toml").write_text('base_url = "https://second.example"\n')
    assert known_profiles({}, flags.config).names == ("a", "second")
    assert load({}, Flags(config=config, profile="second")).profile.base_url == "https://second.example"
    with pytest.raises(ConfigurationError, match="default_profile"):
        load({}, flags)
    config.unlink()
    with pytest.raises(ConfigurationError, match="no profile 'third'") as caught:
        load({}, Flags(config=config, profile="third"))
    assert caught.value.location == str(beside), "the file that is not there is not named"


@pytest.mark.parametrize(
    ("line", "key", "rule"),
    [
        ("budget_sahre = 0.5", "budget_sahre", "did you mean budget_share"),
        ("budget_share = 1.5", "budget_share", "less than or equal to 1"),
        ("address_share = 0.001", "address_share", "greater than or equal to 0.01"),
        ("address_share = 2", "address_share", "less than or equal to 1"),
        ('base_url = "http://exchange.example"', "base_url", "must be https"),
        ('base_url = "https://user:pass@exchange.example"', "base_url", "user name"),
        ('product_types = ["USDT"]', "product_types", "must be among"),
        ('mode = "yes"', "mode", "'monitor' or 'trade'"),
        ('timezone = "Mars/Olympus"', "timezone", "time zone"),
        ('proxy = "ftp://canary:canary@proxy:1"', "proxy", "must begin with http://, socks5://"),
        ('proxy = "127.0.0.1:3128"', "proxy", "must begin with http://, socks5://"),
        ('proxy = "http://canary:canary@"', "proxy", "must be an address such as http://127.0.0.1:3128"),
        ("max_reversal_size = 0", "max_reversal_size", "must be greater than 0"),
        ('max_reversal_size = "much"', "max_reversal_size", "must be a number"),
        ('max_reversal_size = "0_1"', "max_reversal_size", "must be a number"),
        ('max_reversal_value = "1\uff10"', "max_reversal_value", "must be a number"),
        ('symbols = "BTCUSDT"', "symbols", "must be a list in brackets"),
        ("start_locked = 3", "start_locked", "must be true or false"),
        ("data_dir = 5", "data_dir", "must be a path in quotes"),
        ("uid = 5", "uid", "must be text in quotes"),
        ('keys = "x"', "keys", "must be a table"),
        ("intervals = 5", "intervals", "must be a table"),
        ('uid = "my account"', "uid", "must be 1 to 64 letters, digits, - or _"),
        ("intervals = { fills = 0.01 }", "intervals.fills", "greater than or equal to 0.5"),
        ('credentials = { source = "file" }', "credentials", "needs path"),
        ('credentials = { sources = "file" }', "credentials.sources", "did you mean source"),
        ("alerts = 5", "alerts", "must be a list of tables"),
        ("alerts = [5]", "alerts", "must be a list of tables"),
        ('alerts = [{ when = "fills" }]', "alerts.0.when", "'fill', 'order_gone'"),
        ('alerts = [{ to = ["line"] }]', "alerts.0.when", "is required"),
        ('alerts = [{ whn = "fill" }]', "alerts.0.whn", "did you mean when?"),
        ('alerts = [{ when = "today_result_below", amuont = -5 }]', "alerts.0.amuont", "did you mean amount?"),
        ('credentials = { source = "keyring", acount = "x" }', "credentials.acount", "unknown key"),
        ('alerts = [{ when = "fill", two = ["bell"] }]', "alerts.0.two", "did you mean to"),
        ('alerts = [{ when = "fill", to = [] }]', "alerts.0.to", "must not be empty"),
        ('alerts = [{ when = "fill", to = ["mail"] }]', "alerts.0.to.0", "'line', 'bell', 'desktop' or 'command'"),
        ('alerts = [{ when = "fill", to = ["command"] }]', "alerts", "alert_command is not set"),
        ('alerts = [{ when = "price_crosses", price = 5 }]', "alerts.0.symbol", "must be given"),
        ('alerts = [{ when = "price_crosses", symbol = "BTCUSDT" }]', "alerts.0.price", "must be given"),
        ('alerts = [{ when = "margin_ratio_above", amount = 5 }]', "alerts.0.percent", "must be given"),
        ('alerts = [{ when = "liquidation_nearer", percent = 0 }]', "alerts.0.percent", "greater than 0"),
        ('alerts = [{ when = "fill", percent = 5 }]', "alerts.0.percent", "must be left out"),
        ('alerts = [{ when = "today_result_below" }]', "alerts.0.amount", "must be given (or percent)"),
        ('alerts = [{ when = "today_result_below", percent = -2, amount = 5 }]', "alerts.0.amount", "percent is given"),
        ('alerts = [{ when = "link_lost", symbol = "BTCUSDT" }]', "alerts.0.symbol", "about the whole account"),
        ('alerts = [{ when = "fill", direction = "up" }]', "alerts.0.direction", "must be left out"),
        ('alerts = [{ when = "fill" }, { when = "fill" }]', "alerts", "two alerts are called 'fill'"),
        ('alert_command = [""]', "alert_command", "must begin with the name of a program"),
        (
            'credentials = { source = "command", command = ["a\\u0000b"] }',
            "credentials.command",
            "must hold no NUL character",
        ),
        ("alert_commands_a_minute = 0", "alert_commands_a_minute", "greater than or equal to 1"),
        ('desktop_notification = "osc99"', "desktop_notification", "osc777"),
    ],
)
def test_a_wrong_value_names_file_line_key_and_rule(config: Path, line: str, key: str, rule: str) -> None:
    base = "" if line.startswith("base_url") else 'base_url = "https://x.example"\n'
    flags = written(config, f"# first\n[profiles.main]\n{base}{line}\n")
    with pytest.raises(ConfigurationError) as caught:
        load({}, flags)
    number = 4 if base else 3
    assert caught.value.location == f"{config}:{number}"
    assert caught.value.key == key
    assert rule in caught.value.rule
    assert caught.value.remedy
    assert "canary" not in str(caught.value)


def test_text_that_is_no_toml_is_said_so(config: Path) -> None:
    with pytest.raises(ConfigurationError, match="not readable as TOML"):
        load({}, written(config, "[profiles.main\n"))


@pytest.mark.parametrize(("name", "sentence"), [("", "this is a directory"), ("none.toml", "there is no such file")])
def test_a_configuration_that_is_no_file_says_what_it_is(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        load({}, Flags(config=tmp_path / name))


def test_a_wrong_flag_is_blamed_on_the_flag(config: Path) -> None:
    written(config, '[profiles.main]\nbase_url = "https://x.example"\n')
    with pytest.raises(ConfigurationError) as caught:
        load({}, Flags(config=config, base_url="ftp://x"))
    assert caught.value.location == "--base-url"


def test_the_example_is_the_model_and_loads_unedited(config: Path) -> None:
    loaded = load({}, written(config, example_text()))
    assert loaded.name == "main"
    of_a_store = (loaded.profile.store, loaded.profile.machine, loaded.profile.egress)
    assert of_a_store == (None, None, None), "a copy of it needs no store"
    settings = tomllib.loads(re.sub(r"(?m)^# (\w+ = )", r"\1", example_text()))["profiles"]["main"]
    assert set(settings) == set(Profile.model_fields)
    assert set(settings["credentials"]) == set(CredentialSource.model_fields)
    assert set(settings["intervals"]) == set(Intervals.model_fields)
    assert {name for alert in settings["alerts"] for name in alert} == set(AlertRule.model_fields)
    assert [rule.when for rule in loaded.profile.alerts or ()] == list(RuleKind)


def test_a_wrong_alert_is_found_by_its_place_in_the_list(config: Path) -> None:
    alerts = '[[profiles.main.alerts]]\nwhen = "fill"\n\n[[profiles.main.alerts]]\nwhen = "price_crosses"\nprice = -1\n'
    flags = written(config, f'[profiles.main]\nbase_url = "https://x.example"\n{alerts}symbol = "BTCUSDT"\n')
    with pytest.raises(ConfigurationError) as caught:
        load({}, flags)
    assert (caught.value.location, caught.value.key) == (f"{config}:8", "alerts.1.price")
    assert "greater than 0" in caught.value.rule and "the price that is crossed" in str(caught.value)


def test_alerts_become_rules_named_by_their_words(config: Path) -> None:
    alerts = (
        'alerts = [{ when = "price_crosses", symbol = "btcusdt", price = 90000 }, { when = "fill", name = "mine" }]'
    )
    flags = written(config, f'[profiles.main]\nbase_url = "https://x.example"\n{alerts}\n')
    rules = [alert.rule for alert in load({}, flags).profile.alerts or ()]
    assert [rule.name for rule in rules] == ["BTCUSDT price crosses 90,000", "mine"]
    assert rules[0].condition == Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(90_000))


def test_the_committed_example_is_the_generated_one() -> None:
    assert (Path(__file__).parents[2] / "config.example.toml").read_text(encoding="utf-8") == example_text()


def test_a_profile_without_alerts_loads_nothing_of_them(config: Path) -> None:
    flags = written(config, '[profiles.main]\nbase_url = "https://x.example"\n')
    code = (
        "import sys; from pathlib import Path; from tradetui.profiles.load import Flags, load;"
        "load({}, Flags(config=Path(sys.argv[1]))); print([name for name in sys.modules if 'alert' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(flags.config)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == "[]", "the first paint waits for what is imported before it"


@pytest.mark.parametrize("beside", ["", 'theme = "light"\n'])
def test_a_profiles_own_file_takes_its_settings_in_a_table_of_its_name_too(config: Path, beside: str) -> None:
    own = config.parent / "profiles.d" / "main.toml"
    own.parent.mkdir()
    own.write_text(f'base_url = "https://x.example"\n{beside}[[profiles.main.alerts]]\nwhen = "fill"\n')
    assert [alert.when for alert in load({}, Flags(config=config)).profile.alerts] == [RuleKind.FILL]
    own.write_text('base_url = "https://x.example"\n[[profiles.main.alerts]]\nwhen = "nothing"\n')
    with pytest.raises(ConfigurationError) as caught:
        load({}, Flags(config=config))
    assert caught.value.location == f"{own}:3"
    for text, key in (('base_url = "https://y.example"\n', "base_url"), ("[profiles.other]\n", "profiles")):
        own.write_text(f'base_url = "https://x.example"\n[profiles.main]\n{text}')
        with pytest.raises(ConfigurationError) as caught:
            load({}, Flags(config=config))
        assert caught.value.key == key
