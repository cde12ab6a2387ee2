"""Totals of a session's futures accounts, per account and together: the figures of the header bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from tradetui.trading.contract_math import ZERO, is_dollar, known_sum
from tradetui.trading.position_figures import NO_EXPOSURE, Exposure, exposure_of, in_dollars
from tradetui.wire.enums import AssetMode, MarginMode, known, same
from tradetui.wire.text import counted

if TYPE_CHECKING:
    from tradetui.trading.positions import Position
    from tradetui.wire.models.futures_accounts import FuturesAccount


class Totals(NamedTuple):
    """Figures in USDT; None where no account reports them, or where not all of a sum is known."""

    equity: Decimal | None = None
    """Of accounts in multi-assets mode their total margin: there the equity of one coin may be far below zero."""
    unrealised: Decimal | None = None
    """The unrealised profit that the accounts report."""
    worst_margin_ratio: Decimal | None = None
    """Of an account or of an isolated position, as a fraction (1 is liquidation)."""
    union_available: Decimal | None = None
    """What accounts in multi-assets mode still have free."""
    has_single: bool = False
    has_union: bool = False
    open_profit: Decimal | None = None
    """The unrealised profit of all positions."""
    open_profit_is_converted: bool = False
    """Whether some of it is converted from another coin at the mark."""
    least_free: Decimal | None = None
    """The lowest free margin of an account, as a fraction of its equity."""
    exposure: Exposure | None = NO_EXPOSURE
    no_equity_because: str = ""
    """Why the equity is not known although accounts were read, such as `no USDT value of BTC`."""

    @property
    def exposure_multiple(self) -> Decimal | None:
        """Value of all positions as a multiple of the equity; None where either is not known."""
        if not self.equity or self.equity < 0 or self.exposure is None or self.exposure.unknown:
            return None
        return self.exposure.gross / self.equity


def totals_of(
    accounts: Sequence[FuturesAccount], positions: Iterable[Position] | None = (), *, undecodable_rows: int = 0
) -> Totals:
    """Sum up in USDT; profit in another coin is converted at the rate that the coin's own equity implies.

    A sum is not known where it would be one of a part: no sum where there are `undecodable_rows` of accounts, no equity
    where an account with assets reports none in USDT or an unknown asset mode, no unrealised profit where one that is
    reported cannot be converted, no free margin of pools of which one does not say its own. `positions` is None before
    they were read: open profit and exposure are not known.
    """
    are_read = positions is not None
    positions = tuple(positions or ())
    pools = _union_pools(accounts)
    single = [row for row in accounts if not row.is_union and (row.usdt_equity is not None or row.account_equity)]
    no_equity_because = _why_no_equity(single, pools, undecodable_rows)
    equities = [*(row.usdt_equity for row in single), *(row.union_total_margin for row in pools)]
    unrealised = [_profit_in_usdt(row) for row in accounts if row.unrealized_pl is not None]
    isolated = [position for position in positions if same(position.margin_mode, MarginMode.ISOLATED)]
    ratios = _known([*(row.margin_ratio for row in accounts), *(position.margin_ratio for position in isolated)])
    open_profits = [in_dollars(position, position.unrealised) for position in positions]
    return Totals(
        equity=None if no_equity_because else known_sum(equities),
        unrealised=None if undecodable_rows else known_sum(unrealised),
        worst_margin_ratio=max(ratios, default=None),
        union_available=None if undecodable_rows else known_sum(row.union_available for row in pools),
        has_single=bool(single),
        has_union=bool(pools),
        open_profit=known_sum([ZERO, *open_profits]) if are_read else None,
        open_profit_is_converted=any(position.product_type.is_coin_margined for position in positions),
        least_free=min(_known(map(free_part, accounts)), default=None),
        exposure=exposure_of(positions) if are_read else None,
        no_equity_because=no_equity_because,
    )


def _known(amounts: Iterable[Decimal | None]) -> list[Decimal]:
    return [amount for amount in amounts if amount is not None]


def _why_no_equity(single: Sequence[FuturesAccount], pools: Sequence[FuturesAccount], undecodable_rows: int) -> str:
    if undecodable_rows:
        return f"{counted(undecodable_rows, 'account')} unreadable"
    for row in single:
        if row.asset_mode and known(AssetMode, row.asset_mode) is None:
            return f"asset mode {row.asset_mode!r} is not known"
    if any(row.union_total_margin is None for row in pools):
        return "no multi-assets margin"
    coins = dict.fromkeys(row.margin_coin.upper() for row in single if row.usdt_equity is None)
    return f"no USDT value of {', '.join(coins)}" if coins else ""


def free_margin(row: FuturesAccount) -> Decimal | None:
    """The margin still free for new positions, in USDT; of the whole pool where several assets share the margin."""
    if row.is_union:
        return row.union_available
    return row.crossed_max_available if is_dollar(row.margin_coin) else _in_usdt(row, row.crossed_max_available)


def free_part(row: FuturesAccount) -> Decimal | None:
    """The free margin as a fraction of the equity, or of the pool's margin; None for an empty account."""
    available = row.union_available if row.is_union else row.crossed_max_available
    whole = row.union_total_margin if row.is_union else row.account_equity
    if available is None or whole is None or whole <= 0:
        return None
    return available / whole


def _union_pools(accounts: Sequence[FuturesAccount]) -> list[FuturesAccount]:
    """One row per pool of assets: every margin coin of a pool reports the same figures.

    The same assets in the same amounts are the same pool, though prices may have moved between two replies.
    """
    pools: dict[object, FuturesAccount] = {}
    for row in accounts:
        if row.is_union:
            assets = frozenset((asset.coin.upper(), asset.balance) for asset in row.asset_list)
            pools.setdefault(assets or (row.union_total_margin, row.union_available, row.union_mm), row)
    return list(pools.values())


def _profit_in_usdt(row: FuturesAccount) -> Decimal | None:
    if not row.unrealized_pl or same(row.margin_coin, "USDT"):
        return row.unrealized_pl
    return _in_usdt(row, row.unrealized_pl)


def _in_usdt(row: FuturesAccount, amount: Decimal | None) -> Decimal | None:
    """An amount of the account's coin at the rate that its equity in USDT implies; None where that is not known."""
    if amount is None or row.usdt_equity is None or not row.account_equity:
        return None
    return amount * row.usdt_equity / row.account_equity
