"""`tradetui config example`: every setting with its meaning, as a template."""

from __future__ import annotations

import argparse

from tradetui.commands.process.console import DONE, stdout
from tradetui.profiles.example_configuration import example_text


def run(args: argparse.Namespace) -> int:
    """Print the example configuration, which loads as it is."""
    output = stdout()
    for line in example_text().splitlines():
        output.line(line)
    output.flush()
    return DONE
