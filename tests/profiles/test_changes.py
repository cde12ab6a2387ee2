"""A configuration that is read again: stricter settings count at once, looser ones need a restart."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.profiles.changes import Effect, reconfigured
from tradetui.profiles.model import Profile

MAXIMA = ("max_reversal_size", "max_reversal_value", "typed_above")
BASE: dict[str, Any] = {"base_url": "https://a.example"}


def profile(**settings: Any) -> Profile:
    return Profile.model_validate({**BASE, **settings})


def effects(opened: Profile, configured: Profile) -> dict[str, list[Effect]]:
    by_key: dict[str, list[Effect]] = {}
    for change in reconfigured(opened, configured).changes:
        by_key.setdefault(change.key, []).append(change.effect)
    return by_key


def test_nothing_changed_is_no_change() -> None:
    after = reconfigured(profile(), profile())
    assert after.changes == () and after.profile == profile()


@pytest.mark.parametrize(
    "changed",
    [{"theme": "light"}, {"timezone": "local"}, {"mouse": False}, {"keys": {"zoom": "x"}}, {"figures": "exact"}],
)
def test_how_the_screen_looks_is_taken_at_once(changed: dict[str, Any]) -> None:
    after = reconfigured(profile(), profile(**changed))
    assert [change.effect for change in after.changes] == [Effect.NOW]
    assert after.profile == profile(**changed)


def test_alerts_are_taken_at_once_and_not_spelled_out() -> None:
    after = reconfigured(profile(), profile(alerts=[{"when": "today_result_below", "percent": -2}]))
    assert [(str(change), change.effect) for change in after.changes] == [("alerts changed", Effect.NOW)]
    assert after.profile.alerts is not None
    (rule,) = (alert.rule for alert in after.profile.alerts)
    assert rule.name == "today's result below -2 %"


@pytest.mark.parametrize(
    ("looser", "stricter"),
    [
        ({"mode": "trade"}, {"mode": "monitor"}),
        ({"account_admin": True}, {"account_admin": False}),
        ({"max_reversal_size": 5}, {"max_reversal_size": 4}),
        ({}, {"max_reversal_size": 4}),
        ({"max_reversal_value": 5}, {"max_reversal_value": 4}),
        ({}, {"typed_above": 4}),
        ({"typed_above": 5}, {"typed_above": 0}),
        ({}, {"symbols": ["BTCUSDT"]}),
        ({"symbols": ["BTCUSDT", "ETHUSDT"]}, {"symbols": ["ETHUSDT"]}),
    ],
)
def test_the_stricter_of_two_counts_at_once_and_the_looser_after_a_restart(
    looser: dict[str, Any], stricter: dict[str, Any]
) -> None:
    (key,) = stricter
    assert effects(profile(**looser), profile(**stricter)) == {key: [Effect.STRICTER_NOW]}
    assert reconfigured(profile(**looser), profile(**stricter)).profile == profile(**stricter)
    assert effects(profile(**stricter), profile(**looser)) == {key: [Effect.RESTART]}
    assert reconfigured(profile(**stricter), profile(**looser)).profile == profile(**stricter)


@pytest.mark.parametrize(
    "changed",
    [
        {"base_url": "https://b.example"},
        {"uid": "7"},
        {"product_types": ["USDT-FUTURES"]},
        {"budget_share": 0.1},
        {"reversal_trade_side": "Close"},
        {"one_way_side": "held"},
        {"start_locked": True},
        {"data_dir": "/elsewhere"},
    ],
)
def test_what_a_session_is_built_on_needs_a_restart(changed: dict[str, Any]) -> None:
    (key,) = changed
    after = reconfigured(profile(), profile(**changed))
    assert effects(profile(), profile(**changed)) == {key: [Effect.RESTART]}
    assert after.profile == profile()
    assert str(after.changes[0]).startswith(f"{key}: ")


def test_of_the_intervals_only_those_that_changed_are_named() -> None:
    after = reconfigured(profile(), profile(intervals={"fills": 3}))
    assert [str(change) for change in after.changes] == ["intervals.fills: 3.0, was 1.0"]
    assert after.profile == profile()


def test_symbols_that_are_exchanged_leave_what_is_in_both() -> None:
    opened, configured = profile(symbols=["BTCUSDT", "ETHUSDT"]), profile(symbols=["ETHUSDT", "XRPUSDT"])
    assert effects(opened, configured) == {"symbols": [Effect.STRICTER_NOW, Effect.RESTART]}
    assert reconfigured(opened, configured).profile.symbols == ("ETHUSDT",)


def test_no_symbol_in_both_means_that_nothing_is_sent() -> None:
    after = reconfigured(profile(mode="trade", symbols=["BTCUSDT"]), profile(mode="trade", symbols=["XRPUSDT"]))
    assert after.no_symbol_left
    assert after.profile.mode == "monitor"


def test_a_first_maximum_does_not_end_the_typing_that_its_absence_asked_for() -> None:
    assert reconfigured(profile(), profile(max_reversal_value=1_000_000)).profile.typed_above == Decimal(0)
    configured = profile(max_reversal_value=1_000_000, typed_above=100)
    assert reconfigured(profile(), configured).profile.typed_above == Decimal(0)
    assert effects(profile(), configured)["typed_above"] == [Effect.RESTART]


def test_what_may_hold_a_secret_is_named_and_not_shown() -> None:
    configured = profile(
        proxy="http://user:canary@127.0.0.1:1", credentials={"source": "file", "path": "/canary/key.toml"}
    )
    sentences = [str(change) for change in reconfigured(profile(), configured).changes]
    assert sentences == ["proxy changed", "credentials changed"]


def test_alerts_that_changed_are_named_in_a_word() -> None:
    configured = profile(alerts=[{"when": "fill"}], alert_command=["/canary", "--token", "canary"])
    sentences = [str(change) for change in reconfigured(profile(), configured).changes]
    assert sorted(sentences) == ["alert_command changed", "alerts changed"]


LIMITS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["monitor", "trade"]),
        "account_admin": st.booleans(),
        "symbols": st.lists(st.sampled_from(["BTCUSDT", "ETHUSDT", "XRPUSDT"]), unique=True),
        **{name: st.none() | st.integers(1, 5) for name in MAXIMA},
    }
)


@given(LIMITS, LIMITS)
def test_no_two_configurations_make_a_session_looser(before: dict[str, Any], after: dict[str, Any]) -> None:
    opened, configured = profile(**before), profile(**after)
    effective = reconfigured(opened, configured).profile
    for one in (opened, configured):
        assert effective.mode == "monitor" or one.mode == "trade"
        assert one.account_admin or not effective.account_admin
        for name in MAXIMA:
            limit, in_force = getattr(one, name), getattr(effective, name)
            assert limit is None or (in_force is not None and in_force <= limit)
        if effective.mode == "trade" and one.symbols:
            assert effective.symbols and set(effective.symbols) <= set(one.symbols)
