"""Markdown laid out for a terminal by Rich, without Textual, which a command that prints text does not need."""

from __future__ import annotations

import re
from typing import Final

from rich.console import Console
from rich.markdown import Markdown
from rich.theme import Theme

WIDEST: Final = 100  # cells of a line that one reads with ease
_THEME: Final = Theme({"markdown.code": "cyan"})  # Rich's own has a black ground, also in a light terminal


def markdown_text(text: str) -> str:
    """The text in the width and the colours of the terminal; a link to another page becomes that page's name."""
    console = Console(theme=_THEME)
    console.width = min(console.width, WIDEST)
    with console.capture() as capture:
        page = re.sub(r"\[(\w+)\]\(\1\.md\)", r"`\1`", text)
        console.print(Markdown(page, code_theme="ansi_dark", hyperlinks=False))
    return capture.get()
