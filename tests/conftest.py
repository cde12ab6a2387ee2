"""What every test gets: a state directory of its own, so that no journal of one is missed by another."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Look for garbage less often: with 700 objects at a time it takes a third of a screen test's time."""
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def own_state_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory, for this process and those that it starts."""
    directory = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("TRADETUI_STATE_DIR", str(directory))
    monkeypatch.setenv("XDG_STATE_HOME", str(directory))  # where a test hands over an environment of its own
    return directory


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A campaign runs as long as it takes."""
    for item in items:
        if item.get_closest_marker("campaign"):
            item.add_marker(pytest.mark.timeout(0))
