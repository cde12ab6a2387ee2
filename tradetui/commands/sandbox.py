"""`tradetui sandbox`: the embedded exchange as an HTTP server for any client."""

from __future__ import annotations

import argparse
from decimal import Decimal

from tradetui.commands.process.console import DONE
from tradetui.profiles.errors import ConfigurationError


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; the first line on stdout has address and keys as JSON."""
    from tradetui.sandbox.app import SandboxOptions
    from tradetui.sandbox.gateway.faults import InvalidFault, parse_faults
    from tradetui.sandbox.server import AddressUnusable, serve

    try:
        faults = parse_faults(",".join(args.fault))
    except InvalidFault as problem:
        raise ConfigurationError(str(problem), location="--fault") from None
    options = SandboxOptions(
        seed=args.seed,
        speed=Decimal(str(args.speed)),
        faults=faults,
        limits=not args.no_limits,
        core_only=args.core_only,
        dialect=args.dialect,
        one_way_size=args.one_way_size,
    )
    try:
        serve(options, host=args.host, port=args.port)
    except AddressUnusable as problem:
        raise ConfigurationError(
            f"cannot listen on {args.host}:{args.port}: {problem.strerror}", location="--host, --port"
        ) from None
    return DONE
