"""What the whole `tradetui monitor` costs at default intervals against a sandbox in another process.

Its share of a processor is held to that of five live tables beside it, measured over the same seconds.

Run: python -m tests.bench.monitor [SECONDS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.bench.anchors import tables
from tests.bench.report import Report
from tests.bench.terminal import Terminal, measure

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
TABLES_TIMES = 3.0
MOST_MIB = 75


@contextmanager
def sandbox_environment() -> Iterator[dict[str, str]]:
    """An exchange in a process of its own, and the environment of a program that trades on it."""
    server = subprocess.Popen([TRADETUI, "sandbox"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        served = json.loads(server.stdout.readline())
        key = next(profile for profile in served["profiles"] if profile["name"] == "hedge")
        with tempfile.TemporaryDirectory() as home:
            environment = {
                "HOME": home,
                "XDG_RUNTIME_DIR": home,
                "TRADETUI_BASE_URL": served["base_url"],
                "TRADETUI_API_KEY": key["api_key"],
                "TRADETUI_API_SECRET": key["secret"],
                "TRADETUI_PASSPHRASE": key["passphrase"],
            }
            yield {**os.environ, **environment}
    finally:
        server.terminate()
        server.wait()


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    report = Report()
    with (
        sandbox_environment() as environment,
        tables("record", "changing") as five_tables,
        Terminal([TRADETUI, "monitor"], environment=environment) as terminal,
        ThreadPoolExecutor(2) as threads,
    ):
        both = (terminal, five_tables)
        terminal.until_shown(b"BTCUSDT")
        list(threads.map(lambda program: program.read_for(10.0), both))
        monitor_load, tables_load = threads.map(partial(measure, seconds=seconds), both)
    report.ratio(
        "monitor: processor",
        monitor_load.cpu_percent,
        "five live tables",
        tables_load.cpu_percent,
        unit="% of a core",
        at_most=TABLES_TIMES,
    )
    report.absolute(
        f"monitor: memory after {10 + seconds:.0f} s", monitor_load.resident_mib, unit="MiB", at_most=MOST_MIB
    )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
