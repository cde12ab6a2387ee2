"""Which proxy a profile's exchange is reached through, which certificates are trusted, and what is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.exchange.certificates import certificate_of_authority
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, load
from tradetui.profiles.route import Route, route_of

HTTPS_PROXY = {"HTTPS_PROXY": "http://environment.example:3128"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def route(
    config: Path,
    setting: str = "",
    environ: dict[str, str] | None = None,
    flag: str | None = None,
    base_url: str = "https://x.example",
) -> Route:
    config.write_text(f'[profiles.main]\nbase_url = "{base_url}"\n{setting}\n')
    config.chmod(0o600)
    return route_of(load(environ or {}, Flags(config=config, proxy=flag)))


@pytest.mark.parametrize(
    ("setting", "environ", "flag", "sentence"),
    [
        ("", {}, None, ""),
        ("", HTTPS_PROXY, None, "http://environment.example:3128 (from HTTPS_PROXY)"),
        ('proxy = "environment"', HTTPS_PROXY, None, "http://environment.example:3128 (from HTTPS_PROXY)"),
        ('proxy = "none"', HTTPS_PROXY, None, ""),
        ('proxy = "socks5://p.example:1"', HTTPS_PROXY, None, "socks5://p.example:1 (from the profile)"),
        ('proxy = "http://u:canary@p.example:1"', {}, None, "http://p.example:1 (from the profile)"),
        ('proxy = "http://p.example:1"', HTTPS_PROXY, "http://u@f.example:2", "http://f.example:2 (from --proxy)"),
        ('proxy = "http://p.example:1"', HTTPS_PROXY, "none", ""),
        ('proxy = "none"', HTTPS_PROXY, "environment", "http://environment.example:3128 (from HTTPS_PROXY)"),
    ],
)
def test_the_flag_beats_the_profile_which_beats_the_environment(
    config: Path, setting: str, environ: dict[str, str], flag: str | None, sentence: str
) -> None:
    assert route(config, setting, environ, flag).proxy_text == sentence


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1", "https://localhost:1", "https://[::1]"])
def test_loopback_never_goes_through_a_proxy(config: Path, base_url: str) -> None:
    assert route(config, 'proxy = "http://p.example:1"', HTTPS_PROXY, base_url=base_url).proxy is None


@pytest.mark.parametrize("flag", ["http://u:canary@p.example:1", "socks5://:canary@p.example", "http://u:can@ary@p:1"])
def test_a_password_on_the_command_line_is_refused(config: Path, flag: str) -> None:
    with pytest.raises(ConfigurationError, match="takes no password") as refusal:
        route(config, flag=flag)
    assert refusal.value.location == "--proxy" and refusal.value.remedy
    assert "canary" not in str(refusal.value) and "can@ary" not in str(refusal.value)


def test_a_password_in_a_file_that_others_can_read_is_refused(config: Path) -> None:
    route(config, 'proxy = "http://u:canary@p.example:1"')
    config.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600") as refusal:
        route_of(load({}, Flags(config=config)))
    assert "canary" not in str(refusal.value)


def test_a_password_is_in_no_representation(config: Path) -> None:
    config.write_text('[profiles.main]\nbase_url = "https://x.example"\nproxy = "http://u:canary@p.example:1"\n')
    config.chmod(0o600)
    loaded = load({}, Flags(config=config))
    assert "canary" not in repr(loaded) + repr(route_of(loaded)) + repr(Flags(proxy="http://u:canary@h"))
    assert loaded.profile.proxy.get_secret_value() == "http://u:canary@p.example:1"


def test_an_unusable_proxy_of_the_environment_is_named_with_its_remedy(config: Path) -> None:
    with pytest.raises(ConfigurationError, match="ALL_PROXY must begin with http://") as refusal:
        route(config, environ={"ALL_PROXY": "socks4://u:canary@p.example:1"})
    assert "--proxy" in refusal.value.remedy and "canary" not in str(refusal.value)


def test_socks_without_its_package_names_the_extra(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert route(config, 'proxy = "socks5://p.example"').proxy is not None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"pip install '\.\[socks\]'"):
        route(config, 'proxy = "socks5://p.example"')


def test_ssl_cert_file_is_taken_and_named(config: Path, tmp_path: Path) -> None:
    _, ca_file = certificate_of_authority(tmp_path, "exchange.test")
    trusting = route(config, environ={"SSL_CERT_FILE": str(ca_file)})
    assert trusting.ca_file_text == f"{ca_file} (from SSL_CERT_FILE)"
    assert trusting.tls is not None and len(trusting.tls.get_ca_certs()) == 1
    assert route(config).tls is None


def test_a_file_of_certificates_that_cannot_be_used_is_named(config: Path, tmp_path: Path) -> None:
    for file, why in ((tmp_path / "absent.pem", "cannot be read"), (config, "holds no certificates")):
        with pytest.raises(ConfigurationError, match=why) as refusal:
            route(config, environ={"SSL_CERT_FILE": str(file)})
        assert refusal.value.location == str(file) and refusal.value.remedy
