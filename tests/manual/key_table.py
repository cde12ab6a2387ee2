"""Writes the key table of the manual from the bindings. Run: python -m tests.manual.key_table"""

from __future__ import annotations

from pathlib import Path

from tradetui.ui.key_bindings.actions import key_table

PAGE = Path(__file__).parents[2] / "tradetui" / "manual" / "keys.md"
HEAD = "| id | keys | what it does |\n|---|---|---|\n"


def with_table(text: str) -> str:
    """The page with its table brought up to date; the table ends the page."""
    lines = [text[: text.index("| id |")], HEAD]
    for row in key_table({}):
        keys = " ".join(f"`{key}`" for key in row.keys.split())
        lines.append(f"| {row.id} | {keys} | {row.description.replace('|', chr(92) + '|')} |\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
