"""One line for each figure of a bench: the figure, its anchor, their ratio, the gate, and whether the gate holds.

An anchor is a measurement of the same run that a slower machine slows down as much, so that a gate on the ratio means
the same on every machine. An absolute gate says on what machine it was set.
"""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

SEPARATOR = " | "
HOLDS, FALLS_SHORT = "holds", "FALLS SHORT"
REFERENCE = "x86-64 Linux, CPython 3.11"
"""Where the absolute gates were set."""


def by_turns(turns: int, measures: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """What each measure came to in each turn, one after the other within a turn: noise hits all of them alike.

    A turn more is made first and thrown away: it imports, connects and fills caches.
    """
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(turns + 1):
        for name, measure in measures.items():
            value = measure()
            if turn:
                taken[name].append(value)
    return taken


def median_ratio(figures: Sequence[float], anchors: Sequence[float]) -> float:
    """The median of the ratios of each turn: a machine that is busy for a while is so for both."""
    return statistics.median(figure / anchor for figure, anchor in zip(figures, anchors, strict=True))


def p95(values: Sequence[float]) -> float:
    """The value that a twentieth of all exceed."""
    return sorted(values)[int(len(values) * 0.95)]


def machine() -> str:
    """What this runs on: processor, cores and interpreter."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    model = models[0] if models else platform.machine()
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{len(models)} x {model}, {platform.system()}, {interpreter}"


class Report:
    """The lines of one bench, printed as they come; `exit_code` is 1 once a gate fell short."""

    def __init__(self) -> None:
        self.exit_code = 0

    def ratio(
        self,
        name: str,
        figure: float,
        anchor_name: str,
        anchor: float,
        *,
        unit: str,
        at_most: float | None = None,
        at_least: float | None = None,
        ratio: float | None = None,
    ) -> None:
        """A figure held to its anchor; `ratio` is given where it is the median over turns."""
        times = figure / anchor if ratio is None else ratio
        anchored = f"{anchor_name} {_number(anchor)} {unit}"
        self._line(name, f"{_number(figure)} {unit}", anchored, times, at_most, at_least, "times", "")

    def keys(
        self,
        name: str,
        figures: Sequence[float],
        anchor_name: str,
        anchors: Sequence[float],
        *,
        median_at_most: float,
        p95_at_most: float,
    ) -> None:
        """Two figures of keys pressed by turns, in seconds each: their medians, and what a twentieth of them exceed."""
        for statistic, value_of, at_most in (("median", statistics.median, median_at_most), ("p95", p95, p95_at_most)):
            figure, anchor = value_of(figures) * 1000, value_of(anchors) * 1000
            self.ratio(f"{name}, {statistic}", figure, anchor_name, anchor, unit="ms", at_most=at_most)

    def absolute(
        self,
        name: str,
        figure: float,
        *,
        unit: str,
        at_most: float | None = None,
        at_least: float | None = None,
        set_on: str = REFERENCE,
    ) -> None:
        """A figure held to a number of its own, which was set on the machine named."""
        self._line(name, f"{_number(figure)} {unit}", "no anchor", figure, at_most, at_least, unit, f" on {set_on}")

    def count(self, name: str, counted: int, *, exactly: int) -> None:
        """A count that no machine changes."""
        self._print(name, str(counted), "no anchor", "-", f"exactly {exactly}", counted == exactly)

    def _line(
        self,
        name: str,
        figure: str,
        anchor: str,
        held: float,
        at_most: float | None,
        at_least: float | None,
        unit: str,
        where: str,
    ) -> None:
        if at_most is not None:
            gate, holds = f"at most {at_most:g} {unit}{where}", held <= at_most
        else:
            assert at_least is not None, f"{name} has no gate"
            gate, holds = f"at least {at_least:g} {unit}{where}", held >= at_least
        self._print(name, figure, anchor, f"{held:.2f} times" if unit == "times" else "-", gate, holds)

    def _print(self, name: str, figure: str, anchor: str, ratio: str, gate: str, holds: bool) -> None:
        if not holds:
            self.exit_code = 1
        print(SEPARATOR.join((name, figure, anchor, ratio, gate, HOLDS if holds else FALLS_SHORT)), flush=True)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
