"""What every test gets: directories of its own, so that no journal is missed by another and nothing stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.bench.virtual_loop import SetAheadLoop, VirtualLoop
from tests.postgres import postgres_cluster, store_database  # noqa: F401 (fixtures of every room)

LONG = {"commands", "whole"}
"""The rooms whose tests may take half a minute."""
_MEMORY = Path("/dev/shm")
_ROOM = 2 * 2**30
"""Bytes; a container often has 64 MB there, which would not do."""

# An example that takes long on a busy machine is no failure; whatever else the profile in force says stays.
settings.register_profile("any machine", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_configure() -> None:
    """Look for garbage less often, which takes a third of a screen test's time with 700 objects, and keep bytecode.

    All of it is looked for once in about five screen tests: the screens of each are garbage that holds itself.
    Without bytecode every worker rewrites all tests' assertions, and every program that a test starts compiles itself.
    Directories of tests are in memory where the system has room for files there: else journals wait for the disk.
    """
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    gc.set_threshold(500_000, 10, 5)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: nobody looks for garbage in it."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look for garbage once: pytest does it five times at the end, each time in everything that tests left."""
    gc.collect()
    gc.freeze()


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run a test marked `looptime` in virtual time, any other in the machine's, which `pass_seconds` sets ahead."""
    if item.get_closest_marker("looptime"):
        return {"virtual": VirtualLoop}
    return {"real": SetAheadLoop}


@pytest.fixture(scope="session")
def state_dirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Directories of each test in one of their own: pytest would number each by looking at all the others."""
    directory = tmp_path_factory.mktemp("state")
    return (directory / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_state_dir(state_dirs: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state, runtime and scratch directories, for this process and those that it starts and may kill."""
    directory = next(state_dirs)
    directory.mkdir()
    monkeypatch.setenv("TRADETUI_STATE_DIR", str(directory))
    monkeypatch.setenv("XDG_STATE_HOME", str(directory))  # where a test hands over an environment of its own
    monkeypatch.setenv("TRADETUI_RUNTIME_DIR", str(directory / "run"))
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A campaign runs as long as it takes; of the others each worker begins with its share of the long ones.

    xdist gives each worker as many neighbours, and then moves what has not begun: a long test that begins last would
    be waited for by all. The long ones are those of the whole program and of commands, of which many wait for limits
    that real time frees.
    """
    for item in items:
        if item.get_closest_marker("campaign"):
            item.add_marker(pytest.mark.timeout(0))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long_ones = [item for item in items if not LONG.isdisjoint(item.path.parts)]
    others = [item for item in items if LONG.isdisjoint(item.path.parts)]
    items[:] = [
        item for worker in range(workers) for part in (long_ones, others) for item in _share(part, worker, workers)
    ]


def _share(items: list[pytest.Item], worker: int, workers: int) -> list[pytest.Item]:
    return items[len(items) * worker // workers : len(items) * (worker + 1) // workers]
