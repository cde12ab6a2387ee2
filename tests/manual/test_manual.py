"""README and manual say what is so, and name everything there is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.manual.key_table import PAGE, with_table
from tradetui.cli import build_parser
from tradetui.manual import PAGE_NAMES, read_page
from tradetui.sandbox.api_errors import COPY_KEY_EXISTS, OLD_COPY_MODEL

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "tradetui" / "manual"
README = ROOT / "README.md"
PAGES = [*(MANUAL / f"{name}.md" for name in PAGE_NAMES), README, ROOT / "tradetui" / "README.md"]
TEXT = "\n".join(read_page(name).text for name in PAGE_NAMES)


def commands() -> set[str]:
    return set(build_parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr,arg-type]


def settings(table: dict[str, Any]) -> Iterator[str]:
    """The names of a TOML table's settings, and of the tables in it; a profile and a key's id are no settings."""
    for name, value in table.items():
        if name == "profiles":
            yield from settings(value["main"])
        else:
            yield name
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict) and name != "keys":
                    yield from settings(inner)


def test_every_page_is_in_the_list_and_begins_with_its_title_and_a_sentence() -> None:
    assert {file.stem for file in MANUAL.glob("*.md")} == set(PAGE_NAMES)
    for name in PAGE_NAMES:
        page = read_page(name)
        assert page.text.startswith("# ") and page.summary.endswith("."), name
        assert len(page.summary) <= 56, "the list of pages fits 80 columns"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_a_page_links_to_pages_alone() -> None:
    """A reader of the installed program has no other file."""
    assert set(re.findall(r"\]\(([^)]+)\)", TEXT)) <= {f"{name}.md" for name in PAGE_NAMES}


def test_every_page_is_named_in_the_readme() -> None:
    assert set(re.findall(r"\(tradetui/manual/(\w+)\.md\)", README.read_text(encoding="utf-8"))) == set(PAGE_NAMES)


def test_the_readme_is_short_and_has_one_command_that_runs_the_tests() -> None:
    text = README.read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    assert len(re.findall(r"^python3 -m venv .*pytest.*$", text, re.MULTILINE)) == 1, ".ci/run takes it from here"


def test_every_command_is_named_and_none_that_does_not_exist() -> None:
    named = re.compile(r"(?:^|[ `/])tradetui ([a-z]+)", re.MULTILINE)
    assert set(named.findall(TEXT)) == commands()
    assert set(named.findall(README.read_text(encoding="utf-8"))) <= commands()


def test_every_setting_is_named() -> None:
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    example = tomllib.loads(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE))
    names = set(settings(example))
    assert {"default_profile", "store", "typed_above", "fills", "prefix", "percent"} <= names
    code = " ".join(re.findall(r"```.*?```|`[^`]+`", TEXT, re.DOTALL))
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)] == []


def test_the_key_table_is_the_bindings() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text) == text, "write it again: python -m tests.manual.key_table"


def test_the_codes_that_only_the_embedded_exchange_uses_are_listed() -> None:
    for code, message in (OLD_COPY_MODEL, COPY_KEY_EXISTS):
        assert f"| {code} | {message} |" in read_page("sandbox").text
