"""Flags that every command takes."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False  # what `typing` would say; importing it is a tenth of what --help may take
if TYPE_CHECKING:
    from pathlib import Path


def global_flags_into(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command takes; what is not given leaves no attribute."""
    group = parser.add_argument_group("everywhere")
    group.add_argument("--config", type=path_of, metavar="FILE", default=argparse.SUPPRESS, help="configuration file")
    group.add_argument("--profile", metavar="NAME", default=argparse.SUPPRESS, help="which profile of it")
    group.add_argument("--base-url", metavar="URL", default=argparse.SUPPRESS, help="the exchange's address")
    group.add_argument(
        "--product-type", metavar="TYPE", default=argparse.SUPPRESS, help="product type, or several with commas"
    )
    group.add_argument(
        "--data-dir", type=path_of, metavar="DIR", default=argparse.SUPPRESS, help="archive, journal and state"
    )
    group.add_argument(
        "--read-only", action="store_true", default=argparse.SUPPRESS, help="nothing can be sent; beats every setting"
    )


def path_of(text: str) -> Path:
    """The path a flag names."""
    # Imported when a path is given: it is a third of what starting costs otherwise.
    from pathlib import Path

    return Path(text)
