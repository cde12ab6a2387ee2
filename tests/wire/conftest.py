"""Folders outside the repository that these tests read when the environment names them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of recorded replies."""
    return _named("TRADETUI_RECORDED")


@pytest.fixture(scope="session")
def interface_text() -> str:
    """The interface document."""
    return _named("TRADETUI_INTERFACE").read_text(encoding="utf-8")


def _named(variable: str) -> Path:
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} is not set")
    return Path(path)
