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
    """Figures in USDT; None if no account reports them, or if a part of a sum is not known."""

    equity: Decimal | None = None
    """For accounts in multi-assets mode the total margin, as the equity of one coin may be far below zero there."""
    unrealised: Decimal | None = None
    """The unrealised profit that the accounts report."""
    worst_margin_ratio: Decimal | None = None
    """The highest of all accounts and isolated positions, as a fraction (1 is liquidation)."""
    union_available: Decimal | None = None
    """The free margin of accounts in multi-assets mode."""
    has_single: bool = False
    has_union: bool = False
    open_profit: Decimal | None = None
    """The unrealised profit of all positions."""
    open_profit_is_converted: bool = False
    """Whether a part of it is converted from another coin at the mark."""
    least_free: Decimal | None = None
    """The lowest free margin of an account, as a fraction of its equity."""
    exposure: Exposure | None = NO_EXPOSURE
    no_equity_because: str = ""
    """Why the equity is not known although accounts were read, such as `no USDT value of BTC`."""

    @property
    def exposure_multiple(self) -> Decimal | None:
        """Value of all positions as a multiple of the equity; None if either is not known."""
        if not self.equity or self.equity < 0 or self.exposure is None or self.exposure.unknown:
            return None
        return self.exposure.gross / self.equity


def totals_of(
    accounts: Sequence[FuturesAccount], positions: Iterable[Position] | None = (), *, undecodable_rows: int = 0
) -> Totals:
    """Sum up in USDT; profit in another coin is converted at the rate of the coin's own equity.

    A sum over only a part of the accounts is not known. With `undecodable_rows` of accounts there is no sum. Equity is
    not known if an account with assets reports none in USDT or an unknown asset mode. Unrealised profit is not known if
    a reported one cannot be converted, and free margin of pools if one pool does not report its own. `positions` is
    None before they were read: then open profit and exposure are not known.
    """
    are_read = positions is not None
    positions = tuple(positions or ())
    pools = _union_pools(accounts)
    counted_alone = (row for row in accounts if not (row.is_union or row.is_part))
    single = [row for row in counted_alone if row.usdt_equity is not None or row.account_equity]
    no_equity_because = _why_no_equity(single, pools, undecodable_rows)
    equities = [*(row.usdt_equity for row in single), *map(_pool_equity, pools)]
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
        has_union=not all(row.is_whole for row in pools),
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
    if any(_pool_equity(row) is None for row in pools):
        return "no multi-assets margin"
    coins = dict.fromkeys(row.margin_coin.upper() for row in single if row.usdt_equity is None)
    return f"no USDT value of {', '.join(coins)}" if coins else ""


def free_margin(row: FuturesAccount) -> Decimal | None:
    """Return the margin still free for new positions, in USDT; for assets that share margin that of the whole pool."""
    if row.is_union:
        return row.union_available
    return row.crossed_max_available if is_dollar(row.margin_coin) else _in_usdt(row, row.crossed_max_available)


def free_part(row: FuturesAccount) -> Decimal | None:
    """Return the free margin as a fraction of the equity, or of the pool's margin; None for an empty account."""
    available = row.union_available if row.is_union else row.crossed_max_available
    whole = row.union_total_margin if row.is_union else row.account_equity
    if available is None or whole is None or whole <= 0:
        return None
    return available / whole


def _union_pools(accounts: Sequence[FuturesAccount]) -> list[FuturesAccount]:
    """Return one row per pool of assets, because every margin coin of a pool reports the same figures.

    Equal assets in equal amounts are one pool, even if prices moved between two replies.
    """
    pools: dict[object, FuturesAccount] = {}
    for row in accounts:
        if row.is_union:
            assets = frozenset((asset.coin.upper(), asset.balance) for asset in row.asset_list)
            pools.setdefault(assets or (row.union_total_margin, row.union_available, row.union_mm), row)
    return list(pools.values())


def _pool_equity(row: FuturesAccount) -> Decimal | None:
    return row.usdt_equity if row.is_whole else row.union_total_margin


def _profit_in_usdt(row: FuturesAccount) -> Decimal | None:
    if not row.unrealized_pl or same(row.margin_coin, "USDT"):
        return row.unrealized_pl
    return _in_usdt(row, row.unrealized_pl)


def _in_usdt(row: FuturesAccount, amount: Decimal | None) -> Decimal | None:
    """Convert an amount in the account's coin at the rate of its equity in USDT; None if that is not known."""
    if amount is None or row.usdt_equity is None or not row.account_equity:
        return None
    return amount * row.usdt_equity / row.account_equity
