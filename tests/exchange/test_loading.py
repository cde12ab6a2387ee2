"""What is loaded when: errors alone, and the client without the HTTP library."""

from __future__ import annotations

import subprocess
import sys


def loaded_by(statement: str) -> set[str]:
    command = f"import sys; {statement}; print(' '.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.split()
    )


def test_errors_alone_are_light() -> None:
    assert not {"pydantic", "httpcore", "httpx", "asyncio"} & loaded_by("import tradetui.exchange.errors")


def test_the_client_does_not_load_the_http_library() -> None:
    modules = loaded_by("import tradetui.exchange.client")
    assert not {"httpcore", "httpx", "textual", "sqlite3"} & modules


def test_the_program_does_not_load_the_command_line_of_the_http_library() -> None:
    modules = loaded_by("from tradetui import cli; cli.main(['paths']); import tradetui.exchange.transport.http")
    assert "httpx" in modules
    assert not {"click", "pygments", "rich"} & modules


def test_the_program_does_not_load_what_looks_for_plugins() -> None:
    assert "pydantic" in (modules := loaded_by("from tradetui import cli; cli.main(['paths'])"))
    assert not {"importlib.metadata", "zipfile"} & modules
