"""`tradetui preview`: the effect of a reversal, from live data; it only reads, even if the profile may trade."""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import replace
from datetime import tzinfo
from decimal import Decimal

from tradetui.commands.process.console import ATTENTION, DONE, stdout
from tradetui.commands.session.open_profile import OpenProfile, open_privately
from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.reversal.market_state import MarketState
from tradetui.desk.reversal.pretrade_checks import RiskContext, blocking_reasons
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.cells.cell_format import UNKNOWN, number
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.load import Flags
from tradetui.trading.estimates.reversal_estimates import CostEstimate
from tradetui.wire.decimal_text import typed_number
from tradetui.wire.enums import Side
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.json_text import dump_json


def run(args: argparse.Namespace) -> int:
    """Print the plan and every reason not to send it; exit code 3 if there is a reason besides monitor mode."""
    profile = open_privately(os.environ, Flags.of(args))
    settings = profile.settings_without_key
    preview, blocked = asyncio.run(_preview(profile, _target(args, settings)))
    reasons = ((SendsNothing.MONITOR,) if settings.read_only else ()) + blocked
    output = stdout()
    if args.json:
        output.json_line(preview.as_json(settings, reasons))
    else:
        for line in _lines(preview, reasons, settings.zone):
            output.line(line)
    return ATTENTION if blocked else DONE


def _target(args: argparse.Namespace, settings: DeskSettings) -> Target:
    """Return the target of the reversal; raises InvalidRequest."""
    named = Target.named(args.symbol)
    if not named.symbol:
        raise InvalidRequest("SYMBOL", "must be a contract", args.symbol, "For example BTCUSDT.")
    side = named.side if args.side is None else Side(args.side)
    if named.side not in (None, side):
        rule, remedy = f"must name the side to reverse of {args.symbol!r}", "buy reverses the LONG, sell the SHORT."
        raise InvalidRequest("--side", rule, args.side, remedy)
    product_type = None if args.product_type is None else settings.product_types[0]
    return Target(named.symbol, product_type, side, None if args.size is None else _size(args.size))


async def _preview(profile: OpenProfile, target: Target) -> tuple[Preview, tuple[str, ...]]:
    """Return the preview, and the reasons that would block it in trade mode."""
    clock, settings = SystemClock(), profile.settings
    async with profile.reader(clock) as client:
        preview = await MarketState(client, settings, clock).preview(target)
        risk_context = RiskContext(
            settings=replace(settings, read_only=False),
            connection_status=client.connection_status,
            sends_nothing=() if client.is_classic else (SendsNothing.UNIFIED,),
            open_intent=None,
            journal_trouble=None,
            now=clock.monotonic(),
        )
        # Typing symbol and leg is part of the dialog, so it blocks nothing here.
        return preview, blocking_reasons(preview, risk_context, preview.subject)


def _lines(preview: Preview, reasons: tuple[str, ...], zone: tzinfo) -> list[str]:
    lines = [_line("mode", f"{preview.mode or '—'} ({preview.mode_from})")]
    if preview.plan is not None:
        plan = preview.plan
        lines.append(_line("reverses", plan.subject))
        lines.append(_line("held now", str(plan.before)))
        lines += (_line("held afterwards", str(result.after)) for result in plan.results)
        if unproven := preview.unproven(zone):
            lines.append(_line("not proven", unproven))
        lines.append(_line("request", dump_json(dict(plan.request_fields()))))
        if plan.side_meaning:
            lines.append(_line("", plan.side_meaning))
        lines += (
            _line(figure.name, _amount(figure))
            + ("" if figure.now is None else f", now {number(figure.now, at_most=6)}")
            + f" ({figure.basis})"
            for figure in preview.figures
        )
        lines += (_line("order", f"{order.summary}: {order.effect}") for order in preview.resting)
        if preview.stops is None:
            lines.append(_line("live stops", "cannot be read on this exchange"))
        lines += (_line("assumed", assumption) for assumption in plan.assumptions)
    return lines + [_line("blocked", reason) for reason in reasons]


def _amount(figure: CostEstimate) -> str:
    return UNKNOWN if figure.value is None else f"{number(figure.value, at_most=6)} {figure.coin}".rstrip()


def _line(label: str, text: str) -> str:
    return f"{label:<18}{text}"


def _size(text: str) -> Decimal:
    size = typed_number(text)
    if size is None or size <= 0:
        raise InvalidRequest("--size", "must be a number above zero", text, "For example --size 0.01.")
    return size
