"""The one shape of a figure, and the exit code of a bench whose gate fell short."""

from __future__ import annotations

import sys

import pytest

from tests.bench import __main__ as all_benches
from tests.bench.report import FALLS_SHORT, HOLDS, SEPARATOR, Report, by_turns, median_ratio, p95


def cells(capsys: pytest.CaptureFixture[str]) -> list[str]:
    (line,) = capsys.readouterr().out.splitlines()
    return line.split(SEPARATOR)


def test_a_figure_within_its_gate_holds(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.ratio("paint", 220, "empty app", 200, unit="ms", at_most=1.1)
    assert cells(capsys) == ["paint", "220 ms", "empty app 200 ms", "1.10 times", "at most 1.1 times", HOLDS]
    assert report.exit_code == 0


def test_a_figure_beyond_its_gate_falls_short_whatever_holds_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.ratio("rate", 1.9, "ccxt", 1.0, unit="calls/s", at_least=2)
    assert cells(capsys)[-1] == FALLS_SHORT
    report.count("refused", 0, exactly=0)
    assert report.exit_code == 1


def test_the_ratio_over_turns_takes_the_place_of_that_of_the_medians(capsys: pytest.CaptureFixture[str]) -> None:
    Report().ratio("call", 3.0, "bare", 1.0, unit="ms", at_most=2, ratio=1.5)
    assert cells(capsys)[3:] == ["1.50 times", "at most 2 times", HOLDS]


def test_an_absolute_gate_says_on_what_machine_it_was_set(capsys: pytest.CaptureFixture[str]) -> None:
    Report().absolute("memory", 80, unit="MiB", at_most=75, set_on="the reference machine")
    assert cells(capsys)[-2:] == ["at most 75 MiB on the reference machine", FALLS_SHORT]


def test_measures_take_turns_and_the_first_turn_is_thrown_away() -> None:
    order: list[str] = []

    def measure(name: str) -> float:
        order.append(name)
        return float(len(order))

    taken = by_turns(2, {"a": lambda: measure("a"), "b": lambda: measure("b")})
    assert order == ["a", "b"] * 3
    assert taken == {"a": [3.0, 5.0], "b": [4.0, 6.0]}


def test_a_turn_in_which_both_were_slow_changes_no_ratio() -> None:
    assert median_ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]) == 2.0


def test_p95_is_beyond_all_but_a_twentieth() -> None:
    assert p95([float(number) for number in range(100)]) == 95.0


def test_a_bench_that_prints_no_figure_falls_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert [row[-1] for row in all_benches.figures_of("parse")] == [FALLS_SHORT]


def test_a_name_that_no_bench_has_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "prase"])
    assert all_benches.main() == 2
    assert "no bench is called prase" in capsys.readouterr().err
