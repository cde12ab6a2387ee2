"""The options of `show pnl`, `show trips` and `show equity`."""

from __future__ import annotations

import argparse
from typing import Final

from tradetui.commands.process.flags import CommandParser, global_flags_into
from tradetui.trading.results.periods import Grouping

PNL: Final = "pnl"
TRIPS: Final = "trips"
EQUITY: Final = "equity"
_PNL_HELP: Final = (
    "What closing trades brought in, before fees (gross), fees (minus is paid), and net, by the exchange's own profit "
    "of each fill. A row holds one coin. trades, wins and losses count closing orders by profit and own fees, on the "
    "day of the order's last fill. funding is null where it cannot be read, and not in net then. complete is false "
    "where fills of the row's period are not read, lie before what the exchange kept, or came without their fee or "
    "profit, which is not in the figures then. unexplained is what the "
    "wallet moved by beyond net and transfers; null by symbol, and where not all fills and bills of it are read."
)
_TRIPS_HELP: Final = (
    "Round trips from flat to flat, by symbol and side, newest first, each in the period of its last close. "
    "startProven is false where more may have been held before the first fill that is known. funding is null where "
    "it is not known, and not in net then; netDifference is what the exchange's own net result of the position has "
    "beyond net, null where it gives none. complete is false where the exchange gave no fee or no profit for a fill "
    "of it, which is not in fees, gross and net then. entry and exit are "
    "averages: JSON and CSV give them 12 significant digits, text as many decimals as the symbol's prices have. Times "
    "are in milliseconds, in CSV also in UTC, and in text in the profile's time zone."
)
_EQUITY_HELP: Final = (
    "What the accounts of the profile's product types were worth together, in USDT, oldest first: sampled once a "
    "minute by every session, one an hour kept after a week and one a day after a quarter."
)


RESULTS: Final = (PNL, TRIPS, EQUITY)


def add_result_commands(whats: argparse._SubParsersAction[CommandParser]) -> None:
    pnl = whats.add_parser(PNL, help="results: gross, fees and net of a period", description=_PNL_HELP)
    by = "what to sum by (default total); days, weeks (from Monday) and months are those of the profile's time zone"
    pnl.add_argument("--by", choices=tuple(map(str, Grouping)), default=Grouping.TOTAL, type=str.lower, help=by)
    trips = whats.add_parser(TRIPS, help="round trips, from flat to flat", description=_TRIPS_HELP)
    equity = whats.add_parser(EQUITY, help="equity over time", description=_EQUITY_HELP)
    for parser in (pnl, trips, equity):
        global_flags_into(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="an array of objects, decimals as text")
        form.add_argument("--csv", action="store_true", help="CSV; formulas made safe")
        times = "ISO 8601 in the profile's time zone, a span such as 7d, or milliseconds"
        parser.add_argument("--since", metavar="TIME", help=f"{times}: the first moment; all that is known if left out")
        until = f"{times}: a day alone is included, a period ends before any other time; now if left out"
        parser.add_argument("--until", metavar="TIME", help=until)
        fresh = "first read the newest fills, even where there is an archive"
        parser.add_argument("--fresh", action="store_true", help=fresh)
        if parser is not equity:
            chosen = "only this symbol, or several with commas"
            parser.add_argument("--symbol", metavar="SYMBOL", help=chosen)
