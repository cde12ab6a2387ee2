"""`tradetui help [PAGE]`: the manual, formatted for a terminal, or as Markdown in a pipe or a file."""

from __future__ import annotations

import argparse

from tradetui.commands.process.console import DONE, USAGE, Output, say, stdout
from tradetui.manual import PAGE_NAMES, ManualPage, read_page


def run(args: argparse.Namespace) -> int:
    """Print one page, or the list of pages without a name."""
    output = stdout()
    if args.page is not None and args.page not in PAGE_NAMES:
        say(f"tradetui: there is no page {args.page!r}. The pages are {', '.join(PAGE_NAMES)}.")
        return USAGE
    if args.page is not None:
        _print_page(output, read_page(args.page))
    else:
        width = max(map(len, PAGE_NAMES))
        for name in PAGE_NAMES:
            output.line(f"{name:<{width}}  {read_page(name).summary}")
        output.line("")
        output.line("tradetui help PAGE prints a page. tradetui COMMAND --help lists the options of a command.")
    output.flush()
    return DONE


def _print_page(output: Output, page: ManualPage) -> None:
    if not (output.is_terminal and output.is_unicode):
        output.layout(page.text)
        return
    from tradetui.ui.terminal.markdown_text import markdown_text

    output.layout(markdown_text(page.text))
