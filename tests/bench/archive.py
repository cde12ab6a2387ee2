"""Prints how long a key takes to its paint in an archive of a million fills, in a pseudo-terminal, and the memory.

Run: python -m tests.bench.archive [ROWS] [KEYS]
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.terminal import Terminal, measure
from tradetui.desk.archive import Archive
from tradetui.wire.json_text import dump

START_MS = 1_700_000_000_000
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT")
SEEN_S = 3.0
SETTLE_S = 0.3


def build(file: Path, rows: int) -> None:
    """An archive of so many fills, a second apart."""
    archive = Archive(file)
    chance = random.Random(7)
    base = archive._connection
    base.execute("BEGIN")
    base.executemany("INSERT INTO record VALUES ('fill', 'USDT-FUTURES', ?, ?, ?, ?, ?)", _rows(rows, chance))
    base.execute("COMMIT")
    archive.close()


def _rows(rows: int, chance: random.Random) -> object:
    for number in range(rows):
        id_, at, symbol = str(10**18 + number), START_MS + number * 1000, chance.choice(SYMBOLS)
        body = {
            "tradeId": id_,
            "symbol": symbol,
            "orderId": id_,
            "price": f"{chance.randint(1, 90_000)}.5",
            "baseVolume": "0.25",
            "side": "buy",
            "tradeSide": "open",
            "cTime": str(at),
        }
        yield id_, at, f"0019{id_}", symbol, dump(body)


def paints(terminal: Terminal, keys: list[bytes]) -> list[float]:
    """Seconds from each key to its first byte, ascending."""
    taken = []
    for key in keys:
        written, begin = len(terminal.output), time.perf_counter()
        terminal.send(key)
        terminal.read_for(SEEN_S, until=lambda: len(terminal.output) > written)  # noqa: B023
        assert len(terminal.output) > written, f"{key!r} painted nothing"
        taken.append(time.perf_counter() - begin)
        terminal.read_for(SETTLE_S)
    return sorted(taken)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    keys = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "archive.sqlite"
        build(file, rows)
        command = [sys.executable, "-m", "tests.bench.archive_program", str(file)]
        with Terminal(command, environment={"HOME": home}) as terminal:
            terminal.until_shown(b"USDT")
            terminal.read_for(2.0)
            before = measure(terminal, 1.0).resident_mib
            for name, pressed in (
                ("one row", [b"j", b"k"]),
                ("a page", [b"f"]),
                ("to the end and back", [b"G", b"g"]),
                ("order turned", [b"s"]),
                ("filter and all", [b"e", b"a"]),
            ):
                taken = paints(terminal, pressed * (keys // len(pressed)))
                p95 = taken[int(len(taken) * 0.95)] * 1000
                median = statistics.median(taken) * 1000
                print(f"{rows:,} rows, {name}: median {median:.1f} ms, p95 {p95:.1f} (at most 50)")
            after = measure(terminal, 1.0).resident_mib
            print(f"memory: {before:.0f} MiB at first, {after:.0f} MiB afterwards")


if __name__ == "__main__":
    main()
