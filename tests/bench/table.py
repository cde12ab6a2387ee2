"""Prints what five live tables cost: RecordTable against DataTable, changing and still, measured from outside.

Run: python -m tests.bench.table [SECONDS] [RUNS]
"""

from __future__ import annotations

import statistics
import sys

from tests.bench.terminal import Load, Terminal, measure

SETTLE_S = 3.0


def load(kind: str, state: str, seconds: float) -> Load:
    command = [sys.executable, "-m", "tests.bench.tables_program", kind, state]
    with Terminal(command) as terminal:
        terminal.until_shown(b"SYM001USDT")
        terminal.read_for(SETTLE_S)
        return measure(terminal, seconds)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    shown: dict[tuple[str, str], list[Load]] = {}
    for _ in range(runs):
        for kind, state in (("record", "changing"), ("data", "changing"), ("record", "still")):
            shown.setdefault((kind, state), []).append(load(kind, state, seconds))
    for (kind, state), loads in shown.items():
        cpu = statistics.median(each.cpu_percent for each in loads)
        written = statistics.median(each.bytes_per_second for each in loads)
        memory = statistics.median(each.resident_mib for each in loads)
        print(f"{kind} table, {state}: {cpu:.2f} % of a core, {written:.0f} B/s, {memory:.0f} MiB")
    ratio = statistics.median(
        ours.cpu_percent / theirs.cpu_percent
        for ours, theirs in zip(shown["record", "changing"], shown["data", "changing"], strict=True)
    )
    print(f"RecordTable to DataTable, changing: {ratio:.2f} (at most 0.25; RecordTable at most 3 %)")
    print("still: at most 0.5 % and 300 B/s")


if __name__ == "__main__":
    main()
