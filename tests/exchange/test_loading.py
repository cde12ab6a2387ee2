"""What is loaded when: the client without the HTTP library, the HTTP library without its command line."""

from __future__ import annotations

import subprocess
import sys


def loaded_by(statement: str) -> set[str]:
    command = f"import sys; {statement}; print(' '.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.split()
    )


def test_errors_alone_are_light() -> None:
    assert not {"pydantic", "httpx", "asyncio"} & loaded_by("import tradetui.exchange.errors")


def test_the_client_does_not_load_the_http_library() -> None:
    modules = loaded_by("import tradetui.exchange.client")
    assert not {"httpx", "httpcore", "ssl.SSLContext", "textual", "sqlite3"} & modules


def test_the_transport_does_not_load_the_http_librarys_command_line() -> None:
    modules = loaded_by("import tradetui.exchange.transport")
    assert "httpx" in modules
    assert not {"httpx._main", "rich", "click", "pygments"} & modules


def test_nothing_is_left_behind_where_httpx_is_imported_afterwards() -> None:
    assert "httpx" in loaded_by("import tradetui.exchange.transport, httpx; assert callable(httpx.main)")
