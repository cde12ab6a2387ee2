"""Figures of a quarter-hour as the ledger's file has them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from tradetui.trading.results.periods import ResultSums

FIGURES: Final = (
    "gross, fees, volume, gross_in_usd, fees_in_usd, trades, wins, losses, won, lost, won_in_usd, lost_in_usd,"
    " incomplete_fills"
)
"""The columns of a quarter-hour's figures."""


def sums_of(row: Sequence[str | int]) -> ResultSums:
    """The figures of a quarter-hour as the file has them."""
    gross, fees, volume, gross_in_usd, fees_in_usd, trades, wins, losses, won, lost, *in_usd, incomplete_fills = row
    won_in_usd, lost_in_usd = in_usd
    return ResultSums(
        Decimal(gross),
        Decimal(fees),
        Decimal(volume),
        Decimal(gross_in_usd),
        Decimal(fees_in_usd),
        int(trades),
        int(wins),
        int(losses),
        Decimal(won),
        Decimal(lost),
        Decimal(won_in_usd),
        Decimal(lost_in_usd),
        int(incomplete_fills),
    )


def ledger_figures(sums: ResultSums) -> tuple[str | int, ...]:
    """The figures as the file has them, in the order of `FIGURES`."""
    return (
        str(sums.gross),
        str(sums.fees),
        str(sums.volume),
        str(sums.gross_in_usd),
        str(sums.fees_in_usd),
        sums.trades,
        sums.wins,
        sums.losses,
        str(sums.won),
        str(sums.lost),
        str(sums.won_in_usd),
        str(sums.lost_in_usd),
        sums.incomplete_fills,
    )
