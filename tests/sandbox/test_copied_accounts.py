"""Accounts that keep only their newest fills tell what those with all of them tell."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.sandbox.copied_accounts import born_once
from tests.sandbox.signed_requests import NOW_MS
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.seed_accounts import build_exchange_state

KEPT = 60


def books(name: str, fills: int | None) -> list[FuturesBook]:
    exchange_state = born_once(build_exchange_state(7, NOW_MS), fills=fills)
    uid = next(key.uid for key in exchange_state.keys if key.name == name)
    return list(exchange_state.account(uid).futures.values())


@pytest.mark.parametrize("name", ["hedge", "one-way", "coin", "multi-assets", "managed"])
def test_what_only_newest_fills_tell_is_the_end_of_what_all_tell(name: str) -> None:
    """Bills with their balances, positions that ended and the funding of those open."""
    trimmed = 0
    for book, whole in zip(books(name, KEPT), books(name, None), strict=True):
        trimmed += len(whole.fills) > len(book.fills) == KEPT
        assert book.fills == whole.fills[-KEPT:]
        for kept_rows, rows in ((book.bills(), whole.bills()), (book.closed_positions(), whole.closed_positions())):
            assert kept_rows == rows[len(rows) - len(kept_rows) :]
        first_ms = int(book.fills[0]["cTime"]) if book.fills else 0
        ended = [row for row in whole.closed_positions() if int(row["utime"]) >= first_ms]
        assert len(book.closed_positions()) == len(ended)
        for leg, holding in whole.holdings.items():
            assert book.funding_paid(book.holdings[leg]) == whole.funding_paid(holding)
        last = {row["coin"]: Decimal(row["balance"]) for row in book.bills()}
        assert last.items() <= book.balances.items()
    assert trimmed
