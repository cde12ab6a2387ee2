"""Prints what the whole `tradetui monitor` costs at default intervals against a sandbox in another process.

Run: python -m tests.bench.monitor [SECONDS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.terminal import Terminal, measure

TRADETUI = str(Path(sys.executable).with_name("tradetui"))


@contextmanager
def sandbox_environment() -> Iterator[dict[str, str]]:
    """An exchange in a process of its own, and the environment of a program that trades on it."""
    server = subprocess.Popen([TRADETUI, "sandbox"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        told = json.loads(server.stdout.readline())
        key = next(profile for profile in told["profiles"] if profile["name"] == "hedge")
        with tempfile.TemporaryDirectory() as home:
            environment = {
                "HOME": home,
                "XDG_RUNTIME_DIR": home,
                "TRADETUI_BASE_URL": told["base_url"],
                "TRADETUI_API_KEY": key["api_key"],
                "TRADETUI_API_SECRET": key["secret"],
                "TRADETUI_PASSPHRASE": key["passphrase"],
            }
            yield {**os.environ, **environment}
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with sandbox_environment() as environment, Terminal([TRADETUI, "monitor"], environment=environment) as terminal:
        terminal.until_shown(b"BTCUSDT")
        terminal.read_for(10.0)
        load = measure(terminal, seconds)
    print(
        f"monitor: {load.cpu_percent:.2f} % of a core (at most 5), {load.bytes_per_second:.0f} B/s, "
        f"{load.resident_mib:.1f} MiB (at most 72)"
    )


if __name__ == "__main__":
    main()
