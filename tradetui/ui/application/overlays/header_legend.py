"""What each figure of the header bar says, for the help."""

from __future__ import annotations

from typing import Final

HEADER_FIGURES: Final = (
    ("LIVE DEMO SANDBOX", "whose money it is: real, the exchange's demo trading, or the embedded exchange"),
    ("TRADE LOCKED MONITOR", "what this session may do: send, send after unlocking, only read"),
    ("KEY READS ONLY", "the API key has no permission to trade futures: the exchange would refuse what is sent"),
    ("hedge · 4100…", "the profile and the account's UID"),
    ("● 38 ms", "the link works; time from a request to its reply"),
    ("▲ degraded", "some panels could not be read in time"),
    ("✗ refused", "the exchange refuses this account's calls; the reason stands above the panels"),
    ("✗ link down", "the exchange cannot be reached; the figures are as old as they say"),
    ("clock", "how far this machine's clock is ahead of the exchange's; above 5 s nothing is sent"),
    (
        "rate limit",
        "calls of the last minute, as a share of those it allows; halved or slowed: rows are read less often",
    ),
    ("equity", "wallet balance and unrealised profit of all futures accounts, in USDT"),
    ("today", "equity since the day began in the profile's zone, without transfers; — before the first sample of it"),
    ("since 14:03", "the same since that time: no session ran when the day began, so today's result is not known"),
    ("open", "unrealised profit of all open positions, in USDT; ~ marks coin-margined ones converted at the mark"),
    ("free", "free margin of the futures account that has least of it, in per cent of its equity"),
    ("margin ratio", "maintenance margin by equity of the account nearest to liquidation; at 100 % it is liquidated"),
    ("exposure", "value of all positions, long and short together, as a multiple of equity"),
    ("union margin", "what the assets of a multi-asset account are worth as margin, at the exchange's rates"),
    ("available", "how much of the union margin is free"),
    ("HISTORY NOT SAVED", "rows of this session cannot be written to the disk"),
    ("UNKNOWN OUTCOME", "an order may or may not have been carried out; the journal shows it"),
    ("— ~ ?", "unknown; worked out or converted by this program; touched by rows that could not be read"),
)
"""As the bar writes it, and what it says."""
