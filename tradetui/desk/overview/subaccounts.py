"""The rows of sub-accounts without profiles, as the key of their main account reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final

from tradetui.desk.feeds.polling.feed import Feed, Freshness, Reading
from tradetui.desk.overview.account_row import NO_KEY, AccountRow, RowState
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.trading.account_totals import totals_of
from tradetui.trading.contract_math import ZERO, known_sum
from tradetui.wire.enums import same
from tradetui.wire.models.futures_accounts import FuturesAccount, SubaccountAssets, SubaccountAssetsRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import uid_tail

SUBACCOUNTS_EVERY_S: Final = 10.0
"""One call: the exchange allows no more."""
_UNREADABLE: Final = "The exchange's reply about this sub-account cannot be read in full."

Read = ProductRow[SubaccountAssets]


class SubaccountsReader:
    """Reads one product type after the other, and keeps what it read of the others.

    A key that may not read sub-accounts has none.
    """

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._read: dict[ProductType, tuple[Read, ...]] = {}
        self._next = cycle(product_types)
        self._count = len(product_types)

    @property
    def is_complete(self) -> bool:
        """Whether every product type was read."""
        return len(self._read) == self._count

    async def read(self) -> Reading[Read]:
        product_type = next(self._next)
        try:
            reply = await self._client.read(SubaccountAssetsRequest(product_type=product_type))
        except (EndpointMissing, PermissionRefused):
            self._read.clear()
            return Reading(())
        self._read[product_type] = tuple(ProductRow(product_type, row) for row in reply.rows)
        return Reading([row for rows in self._read.values() for row in rows], len(reply.undecodable_rows))


def subaccount_rows(
    main: AccountRow, feed: Feed[Read], reader: SubaccountsReader, now_s: float
) -> Iterator[AccountRow]:
    """Yield a row for each sub-account with futures; its figures are unknown until every product type was read."""
    snapshot = feed.snapshot
    age_s = snapshot.age(now_s)
    accounts: dict[str, list[FuturesAccount]] = {}
    is_readable: dict[str, bool] = {}
    for row in snapshot.rows:
        uid = row.record.user_id
        accounts.setdefault(uid, []).extend(row.record.asset_list)
        is_readable[uid] = is_readable.get(uid, True) and not row.record.unreadable
    for uid, assets in accounts.items():
        if is_readable[uid] and not assets:
            continue  # it never had futures
        is_known = reader.is_complete and is_readable[uid]
        totals = totals_of(assets)
        in_usdt = [asset.unrealized_pl for asset in assets if same(asset.margin_coin, "USDT")]
        unrealised = totals.unrealised if is_known else None
        yield AccountRow(
            names=(f"{main.name}/{uid_tail(uid)}",),
            environment=main.environment,
            uid=uid,
            state=RowState.READ if is_readable[uid] else RowState.PARTLY_READ,
            age_s=int(age_s) if age_s is not None and reader.is_complete else None,
            is_late=feed.freshness is not Freshness.FRESH,
            problem="" if is_readable[uid] else _UNREADABLE,
            equity=totals.equity if is_known else None,
            unrealised=unrealised,
            unrealised_in_usdt=None if unrealised is None else known_sum([ZERO, *in_usdt]),
            access=NO_KEY,
        )
