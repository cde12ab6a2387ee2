"""A sandbox in a process of its own, and the environment that points a command at one of its accounts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.exchange.scripted_exchange import PATIENT
from tradetui.exchange import client
from tradetui.exchange.rate_limit import budget, permit_store

Point = Callable[..., None]


@pytest.fixture(scope="session")
def server() -> Iterator[dict[str, Any]]:
    """What the running sandbox told in its first line."""
    command = [sys.executable, "-m", "tradetui", "sandbox", "--no-limits", "--seed", "11"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        assert process.wait(120) == 0, "SIGTERM ends it cleanly"


@pytest.fixture
def point(server: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Point:
    """Point the environment at an account of the sandbox."""
    return partial(point_at, server, monkeypatch, tmp_path)


def point_at(
    server: dict[str, Any], patch: pytest.MonkeyPatch, folder: Path, account: str = "hedge", **changed: str
) -> None:
    """Point the environment at an account of the sandbox, and at directories in `folder`.

    On a busy machine the sandbox may answer after more than the seconds that a command gives an exchange.
    """
    patch.setattr(client, "Timeouts", lambda: PATIENT)
    return_permits_soon(patch)
    key = next(profile for profile in server["profiles"] if profile["name"] == account)
    values = {
        "TRADETUI_BASE_URL": server["base_url"],
        "TRADETUI_API_KEY": key["api_key"],
        "TRADETUI_API_SECRET": key["secret"],
        "TRADETUI_PASSPHRASE": key["passphrase"],
        "TRADETUI_DATA_DIR": str(folder / "data"),
        "TRADETUI_RUNTIME_DIR": str(folder / "run"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "HOME": str(folder),
        **changed,
    }
    for name, value in values.items():
        patch.setenv(name, value)


def return_permits_soon(patch: pytest.MonkeyPatch) -> None:
    """Have permits return soon after their reply, for an exchange without limits: what waits for them proves no rule.

    That they return a second after it is proven in tests/exchange/test_limiter.py and test_shared_budget.py.
    """
    for module in (budget, permit_store):
        patch.setattr(module, "COOLING_S", 0.01)
