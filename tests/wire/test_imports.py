"""wire stands on pydantic alone: what importing it loads, seen from a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

ALLOWED = {"tradetui", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}

PROGRAM = """
import json, pkgutil, sys
before = set(sys.modules)
import tradetui.wire
for module in pkgutil.iter_modules(tradetui.wire.__path__, "tradetui.wire."):
    __import__(module.name)
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import read_data, read_envelope
row = {"tradeId": "1", "symbol": "X", "price": "1", "baseVolume": "1", "side": "buy", "cTime": "1780000000000"}
body = json.dumps({"code": "00000", "data": {"fillList": [row]}}).encode()
assert len(read_data(CATALOGUE["futures.fills"], read_envelope(body)).rows) == 1
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(loaded - set(sys.stdlib_module_names))))
"""


def test_wire_loads_only_pydantic() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = {name for name in json.loads(done.stdout) if not name.startswith("_")}
    assert loaded <= ALLOWED
    assert "tradetui" in loaded
