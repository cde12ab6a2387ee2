"""Runs every bench in a process of its own, one after the other, and prints the figures of all as one table.

    python -m tests.bench [NAME ...]

With names only those. Exits with 1 where a gate fell short or a bench failed. All of them take about two hours and a
half, most of it `simulated_day` and `memory_over_hours`; nothing else should be running.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.bench.report import FALLS_SHORT, HOLDS, SEPARATOR, machine

BENCHES = (
    "start",
    "key_to_paint",
    "table",
    "monitor",
    "overview",
    "stalls",
    "lookup_keys",
    "archive",
    "ledger",
    "parse",
    "fetch",
    "cancel",
    "limiter",
    "show_all",
    "reversal",
    "store",
    "simulated_hour",
    "simulated_day",
    "memory_over_hours",
    "pythons",
)
HEAD = ("figure", "measured", "anchor", "ratio", "gate", "")


def figures_of(bench: str) -> list[list[str]]:
    """The cells of each figure the bench printed; a bench that failed is a figure that falls short."""
    command = [sys.executable, "-m", f"tests.bench.{bench}"]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        figures = []
        for line in process.stdout:
            print(line, end="", flush=True)
            cells = line.rstrip("\n").split(SEPARATOR)
            if len(cells) == len(HEAD) and cells[-1] in (HOLDS, FALLS_SHORT):
                figures.append(cells)
    print(f"{bench} took {time.perf_counter() - begin:.0f} s", flush=True)
    if (process.returncode and all(cells[-1] == HOLDS for cells in figures)) or not figures:
        figures.append([bench, f"ended with {process.returncode}", "", "", "exactly 0", FALLS_SHORT])
    return figures


def table(rows: list[list[str]]) -> str:
    """The rows with their columns aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return "\n".join(
        SEPARATOR.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main() -> int:
    names = sys.argv[1:] or list(BENCHES)
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        print(f"no bench is called {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    figures = [cells for name in names for cells in figures_of(name)]
    print(f"\n{machine()}\n\n{table([list(HEAD), *figures])}")
    return 1 if any(cells[-1] == FALLS_SHORT for cells in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
