"""`tradetui keys`: the key table, generated from the bindings themselves."""

from __future__ import annotations

import argparse
import sys

from tradetui.commands.exit_codes import DONE
from tradetui.commands.output import JsonWriter, TableWriter
from tradetui.ui.keys import key_table


def run(args: argparse.Namespace) -> int:
    """Print id, keys and description of every binding."""
    columns = ("id", "keys", "description")
    writer = JsonWriter(sys.stdout) if args.json else TableWriter(sys.stdout, columns)
    for row in key_table():
        writer.write({"id": row.id, "keys": row.keys, "description": row.description})
    writer.close()
    return DONE
