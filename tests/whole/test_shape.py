"""The shape of the house: what lies at the top, which arrows exist, and what a room loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP = {"pyproject.toml", "README.md", "config.example.toml", "tradetui", "tests", "screenshots"}
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers", "data", "info"}


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the list of tracked files is not known")
    return listed.stdout.splitlines()


def test_the_top_of_the_repository_holds_only_what_belongs_there() -> None:
    found = {line.split("/", 1)[0] for line in tracked()}
    assert {name for name in found if not name.startswith(".")} <= TOP


def test_no_name_says_nothing() -> None:
    parts = {part.removesuffix(".py") for line in tracked() if line.startswith("tradetui/") for part in line.split("/")}
    assert not parts & EMPTY_NAMES


def test_no_lock_file_is_tracked() -> None:
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "package-lock.json"}
    assert not [line for line in tracked() if line.rsplit("/", 1)[-1] in locks]


def loaded_by(*modules: str) -> set[str]:
    imports = "; ".join(f"import {module}" for module in modules)
    code = f"import sys; {imports}; print(' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def modules_of(room: str) -> list[str]:
    files = (ROOT / "tradetui" / room).rglob("*.py")
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files)
    return sorted(names)


@pytest.mark.parametrize("room", ["wire", "trading", "sandbox"])
def test_a_pure_room_loads_neither_network_nor_screen(room: str) -> None:
    assert not loaded_by(*modules_of(room)) & {"httpcore", "httpx", "textual", "rich"}


def test_wire_loads_nothing_but_pydantic() -> None:
    third_party = loaded_by(*modules_of("wire")) - set(sys.stdlib_module_names) - {"tradetui"}
    pydantic_and_what_it_needs = loaded_by("pydantic.main", "pydantic.types", "pydantic.alias_generators") | {
        "__mp_main__"
    }
    assert not {name for name in third_party if not name.startswith("_")} - pydantic_and_what_it_needs


def test_the_command_line_loads_nothing_heavy() -> None:
    assert not loaded_by("tradetui.cli") & {"pydantic", "httpcore", "httpx", "textual", "asyncio", "sqlite3", "ssl"}


def test_the_import_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    if not lint.exists():
        pytest.skip("import-linter comes with the lint extra; .ci/run installs and runs it")
    done = subprocess.run([str(lint)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
