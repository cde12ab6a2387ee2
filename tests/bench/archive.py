"""How long a key takes in an archive of a million fills until its rows stand on the screen, and the memory.

Each is held to the same key in five live tables of 100 rows, pressed after it in a terminal of its own: a row to a row,
a page to a page, the end to the end, turning to turning, and a filter that leaves a fifth to one that does. Before, all
of them were held to a move of the cursor there, which paints two lines where a page paints a whole table.

Run: python -m tests.bench.archive [ROWS] [KEYS] [FILE], where FILE is kept for the next run.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

from tests.bench.anchors import keys_and_anchor, shown_key_seconds, tables
from tests.bench.report import Report
from tests.bench.terminal import Terminal, measure
from tradetui.desk.archive.database import Archive
from tradetui.wire.json_text import dump_json

START_MS = 1_700_000_000_000
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT")
PAUSE_S = 0.3
FIVE_TABLES = "five live tables"
ROW_TIMES, KEY_TIMES = 1.5, 4.0
GROWTH_MIB = 16
KEYS = {
    "one row": (b"jk", b"jk"),
    "a page": (b"f", b"ffffbbbb"),
    "to the end and back": (b"Gg", b"Gg"),
    "order turned": (b"s", b"s"),
    "filter and all": (b"ea", b"ea"),
}
"""The keys pressed in the archive, and in the live tables, whose pages end."""


def build(file: Path, rows: int) -> None:
    """An archive of so many fills, a second apart."""
    archive = Archive(file)
    chance = random.Random(7)
    base = archive.connection
    base.execute("BEGIN")
    base.executemany("INSERT INTO record VALUES ('fill', 'USDT-FUTURES', ?, ?, ?, ?, ?)", _rows(rows, chance))
    base.execute("COMMIT")
    archive.close()


def _rows(rows: int, chance: random.Random) -> Iterator[tuple[str, int, str, str, str]]:
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
        yield id_, at, f"0019{id_}", symbol, dump_json(body)


def _next_key_seconds(terminal: Terminal, keys: Iterator[bytes]) -> float:
    return shown_key_seconds(terminal, next(keys), 0.1)


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    report = Report()
    with tempfile.TemporaryDirectory() as home, tables("record", "still") as still:
        file = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(home) / "archive.sqlite"
        if not file.exists():
            build(file, rows)
        command = [sys.executable, "-m", "tests.bench.archive_program", str(file)]
        with Terminal(command, environment={"HOME": home}) as terminal:
            terminal.until_shown(b"USDT")
            terminal.read_for(2.0)
            before = measure(terminal, 1.0).resident_mib
            for name, (pressed, pressed_in_tables) in KEYS.items():
                keys = [bytes([key]) for key in pressed * (count // len(pressed))]
                anchor = partial(_next_key_seconds, still, cycle(bytes([key]) for key in pressed_in_tables))
                taken, anchors = keys_and_anchor(terminal, keys, anchor, PAUSE_S, shown_key_seconds)
                report.keys(
                    f"archive: {rows:,} rows, {name}",
                    taken,
                    f"the same in {FIVE_TABLES}",
                    anchors,
                    median_at_most=ROW_TIMES if name == "one row" else KEY_TIMES,
                    p95_at_most=KEY_TIMES,
                )
            grown = measure(terminal, 1.0).resident_mib - before
            report.absolute("archive: memory grown by the keys", grown, unit="MiB", at_most=GROWTH_MIB)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
