"""What only some environments have installed. `.ci/run` installs all of it, and sets TRADETUI_PEERS."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest


def import_optional(module: str) -> Any:
    """The module; where its package is missing, as `absent` says."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        absent(f"{module} is not installed; .ci/run installs it with the extra peers")


def optional_command(name: str) -> Path:
    """A command that the extra lint installs beside this interpreter; where it is missing, as `absent` says."""
    command = Path(sys.executable).with_name(name)
    if not command.exists():
        absent(f"{name} is not installed; .ci/run installs it with the extra lint")
    return command


def absent(reason: str) -> NoReturn:
    """Skip the test, or its file while that is being imported; fail where TRADETUI_PEERS says that all is installed."""
    if "TRADETUI_PEERS" in os.environ:
        pytest.fail(f"TRADETUI_PEERS is set: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
