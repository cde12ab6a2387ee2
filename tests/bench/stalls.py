"""Prints the median of each minute's longest stall of the event loop: five changing tables, and the whole `monitor`.

Run: python -m tests.bench.stalls [MINUTES]. The monitor's memory at the end is printed too.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.bench.monitor import sandbox_environment
from tests.bench.terminal import Terminal

SPARE_S = 5.0


def watch(kind: str, shown: bytes, environment: Mapping[str, str], minutes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stalls"
        command = [sys.executable, "-m", "tests.bench.stalls_program", str(file), kind]
        with Terminal(command, environment=environment) as terminal:
            terminal.until_shown(shown)
            terminal.read_for(minutes * 60 + SPARE_S)
            memory = terminal.resident_mib()
        stalls = [float(line) for line in file.read_text().split()]
    told = ", ".join(f"{each:.0f}" for each in stalls)
    print(
        f"{kind}: longest stall {statistics.median(stalls):.0f} ms, the median of {told} (at most 40); {memory:.0f} MiB"
    )


def main() -> None:
    minutes = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    watch("tables", b"SYM001USDT", {}, minutes)
    with sandbox_environment() as environment:
        watch("monitor", b"BTCUSDT", environment, minutes)


if __name__ == "__main__":
    main()
