"""The profiles of an interactive session: their order, what each line says, what is read when one is opened."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.session.profile_sessions import ProfileSessions, appearance_of
from tradetui.commands.session.screen_state import read_screen_state, write_screen_state
from tradetui.desk.account.identity import AccountKey, KnownAccounts, stand_in
from tradetui.exchange.client import TradingClient
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, load
from tradetui.ui.settings.ui_settings import ScreenPreferences

KEY = 'api_key = "k"\nsecret = "s"\npassphrase = "p"\n'


@pytest.fixture
def flags(tmp_path: Path) -> Flags:
    """A configuration of three profiles, the second one named as the default."""
    (tmp_path / "key.toml").write_text(KEY)
    (tmp_path / "key.toml").chmod(0o600)
    where = f'data_dir = "{tmp_path / "data"}"\n'
    file = tmp_path / "config.toml"
    file.write_text(
        'default_profile = "beta"\n'
        f'[profiles.alpha]\nbase_url = "https://a.example"\nuid = "11"\n{where}'
        f'[profiles.beta]\nbase_url = "http://127.0.0.1:9/"\nmode = "trade"\ntheme = "light"\n{where}'
        f'credentials = {{ source = "file", path = "{tmp_path / "key.toml"}" }}\n'
        f'[profiles.gamma]\nbase_url = "https://c.example"\n{where}'
        'credentials = { source = "command", command = ["false"] }\n'
    )
    return Flags(config=file)


def sessions_of(flags: Flags, **environ: str) -> ProfileSessions:
    return ProfileSessions(OpenProfile(load(environ, flags)), flags)


def test_profiles_keep_the_order_of_the_configuration_whichever_is_open(flags: Flags) -> None:
    sessions = sessions_of(flags)
    assert [choice.name for choice in sessions.choices] == ["alpha", "beta", "gamma"]
    assert sessions.chosen == 1


def test_each_line_says_host_uid_and_mode_without_running_any_program(flags: Flags, tmp_path: Path) -> None:
    KnownAccounts(tmp_path / "data").remember(AccountKey("http://127.0.0.1:9", "live", stand_in("k")), "4100")
    lines = [choice.summary() for choice in sessions_of(flags).choices]
    assert [(line.host, line.uid, line.mode) for line in lines] == [
        ("a.example", "11", "monitor"),
        ("127.0.0.1:9", "4100", "trade"),
        ("c.example", None, "monitor"),
    ]


def test_read_only_holds_for_each_profile_of_the_list(flags: Flags) -> None:
    lines = [choice.summary() for choice in sessions_of(flags, TRADETUI_READ_ONLY="1").choices]
    assert {line.mode for line in lines} == {"monitor"}


def test_a_profile_that_cannot_be_read_says_why_and_the_others_stay(flags: Flags) -> None:
    sessions = sessions_of(flags)
    assert flags.config is not None
    flags.config.write_text(flags.config.read_text().replace('uid = "11"', "uid = 11"))
    lines = [choice.summary() for choice in sessions.choices]
    assert "config.toml:4: uid: " in lines[0].trouble
    assert [line.trouble for line in lines[1:]] == ["", ""]


def test_the_look_is_read_when_a_profile_is_opened_again(flags: Flags, tmp_path: Path) -> None:
    sessions = sessions_of(flags)
    alpha = sessions.choices[0]
    assert alpha.appearance is not None and flags.config is not None
    flags.config.write_text(flags.config.read_text().replace('uid = "11"', 'timezone = "local"\nmouse = false'))
    appearance = alpha.appearance()
    assert (appearance.timezone, appearance.mouse, appearance.theme) == ("local", False, None)
    assert appearance.keep is not None
    appearance.keep(ScreenPreferences("tradetui-light"))
    assert read_screen_state(tmp_path / "data", "alpha")[0] == {"theme": "tradetui-light"}
    assert read_screen_state(tmp_path / "data", "beta")[0] == {}


def test_another_default_in_the_file_does_not_make_the_first_profile_another_one(flags: Flags) -> None:
    sessions = sessions_of(flags)
    assert flags.config is not None
    flags.config.write_text(flags.config.read_text().replace('default_profile = "beta"', 'default_profile = "alpha"'))
    assert sessions.choices[1].summary().host == "127.0.0.1:9"


def test_the_screen_begins_as_the_profile_and_its_choices_say(flags: Flags) -> None:
    environ: dict[str, Any] = {}
    appearance = appearance_of(load(environ, flags))
    assert (appearance.theme, appearance.preferences) == ("light", ScreenPreferences())


def test_without_a_file_there_is_the_profile_of_the_environment(tmp_path: Path) -> None:
    environ = {
        "TRADETUI_BASE_URL": "https://e.example",
        "TRADETUI_API_KEY": "k",
        "TRADETUI_API_SECRET": "s",
        "TRADETUI_PASSPHRASE": "p",
        "XDG_CONFIG_HOME": str(tmp_path),
        "TRADETUI_DATA_DIR": str(tmp_path / "data"),
    }
    sessions = ProfileSessions(OpenProfile(load(environ, Flags())), Flags())
    assert [(choice.name, choice.summary().host) for choice in sessions.choices] == [("environment", "e.example")]
    with pytest.raises(ConfigurationError):
        load(environ, Flags(profile="none"))


def test_a_configuration_read_again_gives_stricter_limits_and_names_the_rest(flags: Flags) -> None:
    sessions = sessions_of(flags)
    beta = sessions.choices[1]
    assert beta.reload is not None and flags.config is not None
    again = beta.reload()
    assert not (again.changed_appearance or again.taken or again.needs_restart)
    text = flags.config.read_text()
    flags.config.write_text(text.replace('theme = "light"', 'max_reversal_size = 2\nuid = "7"\ntimezone = "local"'))
    result = beta.reload()
    assert result.settings.max_reversal_size == 2 and result.settings.uid is None
    assert not result.settings.read_only and not result.reopens
    assert result.appearance.timezone == "local"
    assert result.needs_restart == ("uid: 7, was not set",)
    assert "max_reversal_size: 2, was not set" in result.taken
    flags.config.write_text(text)
    result = beta.reload()
    assert result.settings.max_reversal_size == 2, "a limit is not lifted without a restart"
    assert "max_reversal_size: not set, was 2" in result.needs_restart


def test_a_session_that_may_only_read_now_is_opened_again_as_one(flags: Flags) -> None:
    sessions = sessions_of(flags)
    beta = sessions.choices[1]
    assert beta.reload is not None and flags.config is not None
    text = flags.config.read_text()
    flags.config.write_text(text.replace('mode = "trade"', 'mode = "monitor"'))
    result = beta.reload()
    assert result.reopens and result.settings.read_only
    assert beta.open_desk().execution is None, "no object exists that could send anything"
    flags.config.write_text(text)
    result = beta.reload()
    assert not result.reopens and result.settings.read_only, "never looser without a restart"
    assert result.needs_restart == ("mode: trade, was monitor",)


def test_a_configuration_that_breaks_a_rule_changes_nothing(flags: Flags) -> None:
    sessions = sessions_of(flags)
    beta = sessions.choices[1]
    assert beta.reload is not None and flags.config is not None
    flags.config.write_text(flags.config.read_text().replace('mode = "trade"', 'mode = "Trade"'))
    with pytest.raises(ConfigurationError, match="mode"):
        beta.reload()


def test_a_desk_that_nobody_started_holds_no_file_and_no_thread(flags: Flags) -> None:
    """What a stalled opening makes after another profile was chosen needs nobody to close it."""
    loaded = load({}, flags)
    OpenProfile(loaded).desk()
    files, threads = set(os.listdir("/proc/self/fd")), threading.active_count()
    left_alone = OpenProfile(loaded).desk()
    assert isinstance(left_alone.client, TradingClient)
    assert set(os.listdir("/proc/self/fd")) == files
    assert threading.active_count() == threads


def test_choices_that_cannot_be_read_are_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_screen_state(tmp_path, "alpha", {"theme": "tradetui-light"})
    with monkeypatch.context() as disk:

        def failing(*_: object, **__: object) -> str:
            raise OSError(5, "Input/output error")

        disk.setattr(Path, "open", failing)
        with pytest.raises(OSError, match="Input/output error"):
            write_screen_state(tmp_path, "beta", {"theme": "tradetui-dark"})
    assert read_screen_state(tmp_path, "alpha")[0] == {"theme": "tradetui-light"}


def test_choices_that_were_damaged_meanwhile_are_put_aside_before_others_are_written(tmp_path: Path) -> None:
    (tmp_path / "state.toml").write_text("[profiles.alpha\nsilenced = []")
    write_screen_state(tmp_path, "beta", {"theme": "tradetui-dark"})
    assert "silenced" in (tmp_path / "state.toml.unread").read_text()
    assert read_screen_state(tmp_path, "beta")[0] == {"theme": "tradetui-dark"}
