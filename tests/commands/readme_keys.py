"""Writes the key table of the README from the bindings. Run: python -m tests.commands.readme_keys"""

from __future__ import annotations

from pathlib import Path

from tradetui.ui.key_bindings.binding_registry import key_table

README = Path(__file__).parents[2] / "README.md"
MARK = "<!-- keys: written by python -m tests.commands.readme_keys -->\n"


def table() -> str:
    """The table in Markdown."""
    lines = ["| id | keys | what it does |", "|---|---|---|"]
    for row in key_table():
        keys = " ".join(f"`{key}`" for key in row.keys.split())
        lines.append(f"| {row.id} | {keys} | {row.description.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """The README with its table brought up to date; the table ends the file."""
    return text[: text.index(MARK) + len(MARK)] + "\n" + table()


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
