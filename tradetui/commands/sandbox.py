"""`tradetui sandbox`: the embedded exchange as an HTTP server for any client."""

from __future__ import annotations

import argparse

from tradetui.cli import DONE


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; the first line on stdout tells address and keys as JSON."""
    from tradetui.sandbox.options import SandboxOptions
    from tradetui.sandbox.server import serve

    options = SandboxOptions.from_words(
        seed=args.seed,
        speed=args.speed,
        faults=",".join(args.fault),
        limits=not args.no_limits,
        core_only=args.core_only,
        dialect=args.dialect,
        one_way_size=args.one_way_size,
    )
    serve(options, host=args.host, port=args.port)
    return DONE
