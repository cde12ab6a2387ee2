"""The wallets' history before the start: spot trades, converts, transfers, futures funding, and equity.

Spot trades begin a day within the ninety readable days, so that a session of a day loses none. Converts go back further
than one request may span, and the sub-accounts' transfers about as far as the sub-accounts. All of it is drawn from the
account's random numbers: another order of drawing them would give another history.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final, NamedTuple

from tradetui.sandbox.books.account import Account, SpotHistory
from tradetui.sandbox.books.futures_account import FuturesBook, funding
from tradetui.sandbox.books.futures_history import FUNDING, TRANSFER_IN, TRANSFER_OUT, Movement
from tradetui.sandbox.books.market import CONTRACTS, FUNDING_INTERVAL_MS
from tradetui.sandbox.books.numbers import PLACES, ZERO, Identifiers, text
from tradetui.sandbox.books.orders import ONE_WAY, hedge_leg
from tradetui.sandbox.simulated_trader import past_level
from tradetui.wire.exchange_time import DAY_MS

_SPOT_DAYS, _CONVERT_DAYS, _TRANSFER_DAYS = 89, 100, 60
_PAIRS = (("BTCUSDT", "BTC", "84000"), ("ETHUSDT", "ETH", "2940"), ("SOLUSDT", "SOL", "138"))
_LEAST_SIZE: Final = Decimal("0.0001")
_SPOT_FEE: Final = Decimal("0.001")
SPOT_SYMBOLS = frozenset(symbol for symbol, _, _ in _PAIRS)
_CONVERT_RATES = (  # from one unit of a coin to an amount of another, near the prices of the pairs
    ("USDT", "USDC", "0.9994"),
    ("USDT", "ETH", "0.00034"),
    ("BTC", "USDT", "84100.5"),
    ("ETH", "USDT", "2941.2"),
)
_OTHER_BILLS = (
    ("deposit", "deposit"),
    ("withdraw", "withdraw"),
    ("transfer", "transfer-in"),
    ("transfer", "transfer-out"),
    ("other", "rebate rewards"),
    ("other", "airdrop rewards"),
    ("other", "USDT contract rewards"),
    ("other", "mix contract rewards"),
    ("other", "system lock"),
    ("other", "user lock"),
    ("fait", "deposit"),  # the interface's spelling, like `withdrawl` below
    ("convert", "transfer-in"),
    ("financial", "transfer-out"),
)
_OTHER_BILLS_PART: Final = 0.3  # so that even few bills have several types, while most are still trades
_OUT = frozenset({"withdraw", "transfer-out", "system lock", "user lock"})
_TRANSFERS = 260  # about thirty in each span of seven days, the most that one request reads
_FUTURES_TRANSFERS: Final = (
    (61 * DAY_MS + 11_000_000, TRANSFER_IN, Decimal("0.1")),
    (24 * DAY_MS + 40_000_000, TRANSFER_OUT, Decimal("-0.04")),
    (6 * DAY_MS + 5_000_000, TRANSFER_IN, Decimal("0.02")),
)
"""The time before the start, and the fraction of the present balance."""


def spot_history(uid: str, rng: random.Random, ids: Identifiers, now_ms: int, count: int) -> SpotHistory:
    """Make spot fills and bills that balance: a fill has one bill for each of its two coins, the fee in one of them."""
    fills: list[dict[str, Any]] = []
    wallet = _SpotWallet(ids)
    for moment in sorted(now_ms - rng.randrange(60_000, _SPOT_DAYS * DAY_MS) for _ in range(count)):
        if rng.random() < _OTHER_BILLS_PART:
            group, business_type = rng.choice(_OTHER_BILLS)
            size = Decimal(rng.randint(1, 50_000)) / 100
            wallet.bill(moment, "USDT", group, business_type, -size if business_type in _OUT else size)
            continue
        symbol, coin, start = rng.choice(_PAIRS)
        price = (Decimal(start) * Decimal(rng.randint(9_500, 10_500)) / 10_000).quantize(Decimal("0.01"))
        size = max(_LEAST_SIZE, (Decimal(rng.randint(20, 2_000)) / price).quantize(_LEAST_SIZE))
        side = rng.choice(("buy", "sell"))
        buys = side == "buy"
        amount = (size * price).quantize(Decimal("0.000001"))
        # The fee is paid in the received coin.
        fee_coin = coin if buys else "USDT"
        fee = -((size if buys else amount) * _SPOT_FEE).quantize(PLACES)
        fills.append(
            {
                "userId": uid,
                "symbol": symbol,
                "orderId": ids.at(moment),
                "tradeId": ids.at(moment),
                "orderType": rng.choice(("limit", "market")),
                "side": side,
                "priceAvg": text(price),
                "size": text(size),
                "amount": text(amount),
                "tradeScope": rng.choice(("taker", "maker")),
                "feeDetail": {"deduction": "no", "feeCoin": fee_coin, "totalDeductionFee": "", "totalFee": text(fee)},
                "cTime": str(moment),
                "uTime": str(moment),
            }
        )
        wallet.bill(moment, coin, "transaction", side, size if buys else -size, fees=fee if buys else ZERO)
        wallet.bill(moment, "USDT", "transaction", side, -amount if buys else amount, fees=ZERO if buys else fee)
    return SpotHistory(fills[::-1], wallet.bills[::-1])


class _SpotWallet:
    """Balances by coin, and a bill of each change, oldest first."""

    def __init__(self, ids: Identifiers) -> None:
        self._ids = ids
        self._balances = {"USDT": Decimal(100_000), "BTC": Decimal(2), "ETH": Decimal(30), "SOL": Decimal(400)}
        self.bills: list[dict[str, Any]] = []

    def bill(
        self, moment: int, coin: str, group: str, business_type: str, size: Decimal, *, fees: Decimal = ZERO
    ) -> None:
        before = self._balances[coin]
        self._balances[coin] = after = before + size + fees
        self.bills.append(
            {
                "cTime": str(moment),
                "coin": coin,
                "groupType": group,
                "businessType": business_type,
                "size": text(size),
                "balance": text(before),
                "fees": text(fees),
                "billId": self._ids.at(moment),
                "balanceAfter": text(after),
            }
        )


def convert_history(rng: random.Random, ids: Identifiers, now_ms: int, count: int) -> list[dict[str, Any]]:
    """Make converts, the newest first."""
    rows = []
    for moment in sorted(now_ms - rng.randrange(3_600_000, _CONVERT_DAYS * DAY_MS) for _ in range(count)):
        source, target, price = rng.choice(_CONVERT_RATES)
        size = Decimal(rng.randint(1, 900)) / (1 if source == "USDT" else 100)
        rows.append(
            {
                "id": ids.at(moment),
                "ts": str(moment),
                "cnvtPrice": price,
                "fee": text(Decimal(rng.randint(0, 3)) / 100),
                "fromCoinSize": text(size),
                "fromCoin": source,
                "toCoinSize": text((size * Decimal(price)).quantize(Decimal("0.00000001"))),
                "toCoin": target,
            }
        )
    return rows[::-1]


def transfer_history(uids: list[str], rng: random.Random, ids: Identifiers, now_ms: int) -> list[dict[str, Any]]:
    """Make deposits and withdrawals of a broker's sub-accounts, several a day; the newest may still be pending."""
    rows: list[dict[str, Any]] = []
    for moment in sorted(now_ms - rng.randrange(60_000, _TRANSFER_DAYS * DAY_MS) for _ in range(_TRANSFERS)):
        recent = now_ms - moment < DAY_MS // 2
        rows.append(
            {
                "uid": rng.choice(uids),
                "txId": ids.at(moment),
                "coin": rng.choice(("USDT", "BTC", "ETH")),
                "type": rng.choice(("deposit", "withdrawl")),
                "subType": rng.choice(("onchain", "internal", "fast")),
                "amount": text(Decimal(rng.randint(1, 90_000)) / 100),
                "status": rng.choice(("pending", "success", "fail") if recent else ("success", "fail")),
                "ts": str(moment),
            }
        )
    return rows[::-1]


def past_movements(book: FuturesBook, built_ms: int) -> list[Movement]:
    """Make transfers, and the funding at every settlement before the book's account was built, oldest first."""
    movements = [
        Movement(built_ms - age_ms, business_type, coin, (balance * part).quantize(Decimal("0.01")))
        for coin, balance in book.started_with.items()
        for age_ms, business_type, part in _FUTURES_TRANSFERS
    ]
    return sorted([*movements, *_past_funding(book, built_ms)], key=attrgetter("time_ms"))


def _past_funding(book: FuturesBook, built_ms: int) -> Iterator[Movement]:
    """Yield the funding at each settlement, for the positions open by the fills before it."""
    sizes: defaultdict[tuple[str, str], Decimal] = defaultdict(lambda: ZERO)
    fills = deque(book.fills)
    if not fills:
        return
    first_ms = (int(fills[0]["cTime"]) // FUNDING_INTERVAL_MS + 1) * FUNDING_INTERVAL_MS
    for settlement_ms in range(first_ms, book.begun_ms + 1, FUNDING_INTERVAL_MS):
        while fills and int(fills[0]["cTime"]) < settlement_ms:
            _add_fill(sizes, fills.popleft())
        level = past_level(built_ms - settlement_ms)
        for (symbol, named_leg), size in sizes.items():
            if size:
                spec, leg = CONTRACTS[symbol], named_leg or ("long" if size > ZERO else "short")
                amount = funding(spec, leg, abs(size), spec.price(spec.start_price * level))
                yield Movement(settlement_ms, FUNDING, spec.margin_coin, amount, symbol, leg)


class CoinWorth(NamedTuple):
    """The past worth of a futures account in one coin: equity and unrealised profit in the coin, equity in dollars."""

    coin: str
    equity: Decimal
    unrealised: Decimal
    in_dollars: Decimal


def past_worth(
    account: Account, product_types: Iterable[str], moments: Iterable[int]
) -> Iterator[tuple[int, list[CoinWorth]]]:
    """Return an account's worth at times (Unix ms) before its start, oldest first.

    The balances come from the bills. The positions come from replaying the fills, at the prices of the time. The
    account is read at the call, not while the times are consumed.
    """
    books = [_PastBook(account.futures[product_type]) for product_type in product_types]
    return ((moment, _worth(books, account.built_ms, moment)) for moment in moments)


def _worth(books: Iterable[_PastBook], built_ms: int, moment: int) -> list[CoinWorth]:
    level = past_level(built_ms - moment)
    marks = {symbol: spec.price(spec.start_price * level) for symbol, spec in CONTRACTS.items()}
    worth = []
    for book in books:
        past = book.at(moment)
        for coin, balance in past.balances.items():
            unrealised = past.unrealised(coin, marks).quantize(PLACES)
            equity = balance + unrealised
            in_dollars = (equity * marks.get(f"{coin}USDT", Decimal(1))).quantize(PLACES)
            worth.append(CoinWorth(coin, equity, unrealised, in_dollars))
    return worth


class _PastBook:
    """A futures book as it was at earlier times, oldest first."""

    def __init__(self, book: FuturesBook) -> None:
        self._fills, self._bills = deque(book.fills), deque(book.bills())
        self._past = FuturesBook(book.product_type, book.mode, dict(book.balances), Identifiers())
        for bill in reversed(self._bills):  # last comes each coin's first bill, which shows its first balance
            change = Decimal(bill["amount"]) + Decimal(bill["fee"])
            self._past.balances[bill["coin"]] = Decimal(bill["balance"]) - change

    def at(self, moment: int) -> FuturesBook:
        balances = self._past.balances
        while self._fills and int(self._fills[0]["cTime"]) <= moment:
            fill = self._fills.popleft()
            spec, size, time_ms = CONTRACTS[fill["symbol"]], Decimal(fill["baseVolume"]), int(fill["cTime"])
            order = self._past.new_order(spec, fill["side"], fill["tradeSide"], size, time_ms)
            self._past.execute(order, size, Decimal(fill["price"]), time_ms)
        while self._bills and int(self._bills[0]["cTime"]) <= moment:
            bill = self._bills.popleft()
            balances[bill["coin"]] = Decimal(bill["balance"])
        return self._past


def _add_fill(sizes: defaultdict[tuple[str, str], Decimal], fill: dict[str, Any]) -> None:
    """Add a fill to the sizes by symbol and leg; the net of one-way mode is signed and has an empty leg."""
    size = Decimal(fill["baseVolume"])
    if fill["posMode"] == ONE_WAY:
        sizes[fill["symbol"], ""] += size if fill["side"] == "buy" else -size
        return
    leg = hedge_leg(fill["side"], fill["tradeSide"])
    sizes[fill["symbol"], leg] += size if fill["tradeSide"] == "open" else -size
