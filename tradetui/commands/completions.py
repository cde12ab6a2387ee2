"""`tradetui completions SHELL`: a shell's completion script, made from the parsers of all commands."""

from __future__ import annotations

import argparse

import shtab

from tradetui.commands.process.console import DONE, stdout
from tradetui.commands.process.flags import EVENT_KINDS, path_of
from tradetui.commands.show.options import show_parser
from tradetui.manual import PAGE_NAMES

_CHOICES = {"kinds": EVENT_KINDS, "page": PAGE_NAMES}
"""The values of arguments that argparse checks without their choices: it would print its usage before an error."""


def run(args: argparse.Namespace) -> int:
    """Print the script, with the parser of `show`, which is otherwise built only when that command runs."""
    parser: argparse.ArgumentParser = args.build_parser()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.choices["show"] = show_parser()
    _complete_paths(parser)
    script: str = shtab.complete(parser, shell=args.shell)
    output = stdout()
    for line in script.splitlines():
        output.layout(f"{line}\n")
    output.flush()
    return DONE


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if action.dest in _CHOICES:
            action.choices = _CHOICES[action.dest]
        if action.type is path_of:
            action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
        if isinstance(action, argparse._SubParsersAction):
            for command_parser in action.choices.values():
                _complete_paths(command_parser)
