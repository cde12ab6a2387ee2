"""Flags that every command takes."""

from __future__ import annotations

import argparse
import os
import re
import sys

from tradetui import __version__
from tradetui.commands.process.console import say, stdout

TYPE_CHECKING = False  # as in `typing`, whose import would take a tenth of the time of --help
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path
    from typing import Any, Never


EVENT_KINDS = ("fill", "order", "trigger", "alert", "outcome")
"""The kinds of event that `watch` prints: the values of `EventKind`, which is not imported at the start."""


class CommandParser(argparse.ArgumentParser):
    """A parser whose messages contain no control characters from the arguments."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": _HelpFormatter, **options})
        # Since Python 3.14 help has colours, whose control characters would be shown.
        self.color = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse like argparse, but take `-5d` after a flag as its value, so that the flag's rule explains an error."""
        return super().parse_known_args(_values_joined(sys.argv[1:] if args is None else args), namespace)

    def refuse_rest(self, command: str | None, rest: Sequence[str]) -> Never:
        """End the program with an error about arguments that the command, or without one the program, does not take."""
        about = f"{self.prog} {command}" if command else self.prog
        self.error(f"unrecognized arguments: {' '.join(rest)}. {about} --help lists what it takes.")

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            say(message, file)


def _values_joined(arguments: Sequence[str]) -> list[str]:
    """Join `--since -5d` to `--since=-5d`, because argparse takes a text with a leading dash for a flag."""
    joined: list[str] = []
    for argument in arguments:
        is_value = re.match(r"-\d", argument) and "--" not in joined
        if is_value and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


class ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> Never:
        from importlib.metadata import version  # slower to import than all of --help

        versions = [f"tradetui {__version__}", f"Python {sys.version.split()[0]}", f"Textual {version('textual')}"]
        output = stdout()
        output.line(", ".join(versions))
        output.flush()
        parser.exit()


class _HelpFormatter(argparse.HelpFormatter):
    """Determines the terminal's width itself; argparse would import `shutil`, a fifth of the time of --help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_terminal_columns() - 2)


def _terminal_columns() -> int:
    """Return the terminal's columns, from the variable COLUMNS if it is set; 80 without a terminal."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


_GLOBAL_FLAGS = (
    ("--config", "FILE", "configuration file"),
    ("--profile", "NAME", "which profile to use"),
    ("--base-url", "URL", "the exchange's address"),
    ("--product-type", "TYPE", "product type, or several with commas"),
    ("--proxy", "URL", "http:// or socks5:// proxy without a password, environment, or none"),
    ("--data-dir", "DIR", "archive, journal and state"),
    ("--read-only", "", "nothing can be sent; beats every setting"),
    ("--log", "FILE", "write what happens to a file, without secrets and queries (default: no log)"),
)


def global_flags_into(
    parser: argparse.ArgumentParser, product_types: Collection[str] = (), refused: Collection[str] = ()
) -> None:
    """Add the flags of every command; an absent flag leaves no attribute.

    The help names `product_types`, and leaves out flags that the command refuses with a reason.
    """
    group = parser.add_argument_group("everywhere")
    for flag, metavar, about in _GLOBAL_FLAGS:
        if flag == "--product-type" and product_types:
            about += f": {', '.join(product_types)}"
        shown = argparse.SUPPRESS if flag in refused else about
        if metavar:
            value_type = path_of if metavar in ("FILE", "DIR") else str
            group.add_argument(flag, type=value_type, metavar=metavar, default=argparse.SUPPRESS, help=shown)
        else:
            group.add_argument(flag, action="store_true", default=argparse.SUPPRESS, help=shown)


def path_of(text: str) -> Path:
    # Imported only with a path, because it takes a third of the start-up time.
    from pathlib import Path

    return Path(text)
