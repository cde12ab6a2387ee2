"""The manual: one Markdown page a subject, in the package, for `tradetui help` and for the screen.

A page begins with its title and then, as a paragraph of its own, a sentence that says what is in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = Path(__file__).parent
PAGE_NAMES: Final = (
    "screen", "keys", "reversal", "money", "alerts", "scripts", "configuration", "sessions", "machines",
    "sandbox", "troubleshooting",
)  # fmt: skip
"""Every page, in the order in which one reads them."""


class ManualPage(NamedTuple):
    """One page: `summary` is its first sentence, `text` all of it as Markdown."""

    name: str
    summary: str
    text: str


def read_page(name: str) -> ManualPage:
    """Return a page by its name; raises KeyError."""
    if name not in PAGE_NAMES:
        raise KeyError(name)
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return ManualPage(name, text.split("\n\n")[1].replace("\n", " "), text)
