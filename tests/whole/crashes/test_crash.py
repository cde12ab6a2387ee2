"""Killed at any write, sync or send of a reversal, the program starts again and accounts for the order.

The sample takes part in the suite. The whole matrix, every call of a reversal and of taking one up, is a campaign:

    python -m pytest -m campaign tests/whole/crashes/test_crash.py -s
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole.crashes.crash_cases import (
    MODES,
    WEATHERS,
    Case,
    CrashRig,
    all_of,
    every_case,
    loaded_program,
    rigs,
    sample,
)
from tests.whole.crashes.kill_counter import AT_THE_POST, HOWS, build

CALLS = 110
"""About as many as a reversal makes; what lies beyond its last one is a run that nobody kills."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("killing")
    library = build(folder)
    if library is None:
        pytest.skip("no C compiler (cc, gcc, clang) to build the counter that is preloaded")
    with loaded_program(library, folder) as address:
        yield address


@pytest.fixture(scope="module")
def crash_rigs(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[CrashRig]]:
    with rigs(program, tmp_path_factory.mktemp("crashes")) as running:
        yield running


def test_nobody_kills_it_and_the_order_is_accounted_for(crash_rigs: list[CrashRig]) -> None:
    cases = [Case("reverse", 0, "before", weather, mode) for weather in WEATHERS for mode in MODES]
    assert not all_of(crash_rigs, cases)


def test_killed_anywhere_the_order_is_accounted_for(crash_rigs: list[CrashRig]) -> None:
    cases = sample(CALLS, 4)
    assert all_of(crash_rigs, cases) > 0.8 * len(cases), "most runs come as far as the call they die at"


def test_killed_at_the_first_byte_of_the_request_the_order_is_accounted_for(crash_rigs: list[CrashRig]) -> None:
    cases = [Case("reverse", AT_THE_POST, how, "none", mode) for how in HOWS for mode in MODES]
    assert all_of(crash_rigs, cases) == len(cases)


def test_with_the_thirteen_endpoints_alone(program: Path, tmp_path: Path) -> None:
    weathers = ("none", "dropped-before", "dropped-after", "none")
    with rigs(program, tmp_path, len(weathers), core_only=True) as crash_rigs:
        all_of(crash_rigs, [Case("reverse", 15 + 25 * at, "before", weather) for at, weather in enumerate(weathers)])


@pytest.mark.campaign
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weather", WEATHERS)
@pytest.mark.parametrize("how", HOWS)
def test_every_call_of_a_reversal(crash_rigs: list[CrashRig], how: str, weather: str, mode: str) -> None:
    count = every_case(crash_rigs, "reverse", how, weather, mode)
    print(f"killed at each of {count} calls of a reversal ({how}; {weather}; {mode})")  # noqa: T201
    assert count > 60


@pytest.mark.campaign
@pytest.mark.parametrize("weather", WEATHERS)
@pytest.mark.parametrize("how", HOWS)
def test_every_call_of_taking_it_up(crash_rigs: list[CrashRig], how: str, weather: str) -> None:
    count = every_case(crash_rigs, "take up", how, weather, "hedge")
    print(f"killed at each of {count} calls of taking one up ({how}; {weather})")  # noqa: T201
    assert count > 60


@pytest.mark.campaign
@pytest.mark.parametrize("weather", WEATHERS)
def test_every_call_with_the_thirteen_endpoints_alone(program: Path, tmp_path: Path, weather: str) -> None:
    with rigs(program, tmp_path, core_only=True) as crash_rigs:
        count = every_case(crash_rigs, "reverse", "before", weather, "hedge")
    print(f"killed at each of {count} calls of a reversal (thirteen endpoints; {weather})")  # noqa: T201
    assert count > 60
