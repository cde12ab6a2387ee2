"""Made-up trading histories as the exchange would send them, and their results summed a second time, in fractions.

The second computation reads the raw rows alone and shares no code with the program.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

START_MS = 1_793_000_000_000
RawFill = dict[str, Any]
ZONES = ("UTC", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Casablanca")
"""Offsets of quarter, half and whole hours, and summer times of an hour and of half an hour."""


@dataclass
class MadeHistory:
    """Raw fills by product type, oldest first."""

    fills: dict[str, list[RawFill]] = field(default_factory=lambda: defaultdict(list))


SYMBOLS = {
    "USDT-FUTURES": ("BTCUSDT", "ETHUSDT"),
    "USDC-FUTURES": ("BTCPERP",),
    "COIN-FUTURES": ("BTCUSD", "ETHUSD"),
}
COINS = {"BTCUSDT": "USDT", "ETHUSDT": "USDT", "BTCPERP": "USDC", "BTCUSD": "BTC", "ETHUSD": "ETH"}


class _Maker:
    """Trades one product type by chance, keeping what is held, as an exchange would."""

    def __init__(self, product_type: str, chance: random.Random, *, before: int) -> None:
        self.product_type, self.chance = product_type, chance
        self.mode = chance.choice(("hedge_mode", "one_way_mode"))
        self.held: dict[tuple[str, str], tuple[Fraction, Fraction]] = {}
        self.at, self.number, self.orders = START_MS, 0, 0
        self.rows: list[RawFill] = []
        self.unseen = before

    def run(self, steps: int) -> list[RawFill]:
        for _ in range(steps):
            self.at += self.chance.choice((0, 1, 900, 60_000, 899_999, 900_000, 7_200_000, 86_400_000))
            if self.chance.random() < 0.08:
                self.switch()
            self.trade()
        return self.rows[self.unseen :]

    def switch(self) -> None:
        """Close everything, then change the mode: the exchange allows it only while nothing is held."""
        for (symbol, leg), (size, _) in list(self.held.items()):
            self.order(symbol, leg, Decimal(size.numerator) / size.denominator, closes=True)
        self.mode = "one_way_mode" if self.mode == "hedge_mode" else "hedge_mode"

    def trade(self) -> None:
        symbol, leg = self.chance.choice(SYMBOLS[self.product_type]), self.chance.choice(("long", "short"))
        size = Decimal(self.chance.randint(1, 9)) / 10
        held = self.held.get((symbol, leg))
        if self.mode == "one_way_mode":
            self.order(symbol, leg, size, closes=False)
        elif held and self.chance.random() < 0.6:
            whole = Decimal(held[0].numerator) / held[0].denominator
            self.order(symbol, leg, whole if self.chance.random() < 0.5 else min(size, whole), closes=True)
        else:
            self.order(symbol, leg, size, closes=False)

    def order(self, symbol: str, leg: str, size: Decimal, *, closes: bool) -> None:
        """Fill an order in one to three pieces."""
        self.orders += 1
        word = self.chance.choice(("", "", "", "reduce", "burst", "delivery", "dte_sys_adl"))
        pieces = (
            [size] if size < Decimal("0.3") else self.chance.choice(([size], [Decimal("0.1"), size - Decimal("0.1")]))
        )
        for piece in pieces:
            price = Decimal(self.chance.randint(900, 1100)) / 10
            if self.mode == "hedge_mode":
                self.hedge_fill(symbol, leg, piece, price, closes=closes, word=word)
            else:
                self.net_fill(symbol, leg, piece, price, closes=closes, word=word)
            self.at += self.chance.choice((0, 5, 1_000_000))

    def hedge_fill(self, symbol: str, leg: str, size: Decimal, price: Decimal, *, closes: bool, word: str) -> None:
        trade_side = "open"
        profit = Fraction(0)
        if closes:
            trade_side = f"{word}_close_{leg}" if word else "close"
            profit = self.close(symbol, leg, size, price)
        else:
            self.open(symbol, leg, size, price)
        self.row(symbol, "buy" if leg == "long" else "sell", trade_side, size, price, profit)

    def net_fill(self, symbol: str, leg: str, size: Decimal, price: Decimal, *, closes: bool, word: str) -> None:
        """`leg` is what it opens, or what it closes."""
        along = leg if not closes else ("short" if leg == "long" else "long")
        against = "short" if along == "long" else "long"
        side = "buy" if along == "long" else "sell"
        held = self.held.get((symbol, against), (Fraction(0), Fraction(0)))[0]
        closing = min(held, Fraction(size))
        profit = (
            self.close(symbol, against, Decimal(closing.numerator) / closing.denominator, price)
            if closing
            else Fraction(0)
        )
        if closing < Fraction(size):
            rest = Fraction(size) - closing
            self.open(symbol, along, Decimal(rest.numerator) / rest.denominator, price)
            word = ""
        trade_side = f"{side}_single"
        if closing and word:
            trade_side = f"dte_sys_adl_{side}_in_single_side_mode" if word == "dte_sys_adl" else f"{word}_{side}_single"
        self.row(symbol, side, trade_side, size, price, profit)

    def open(self, symbol: str, leg: str, size: Decimal, price: Decimal) -> None:
        held, value = self.held.get((symbol, leg), (Fraction(0), Fraction(0)))
        self.held[symbol, leg] = held + Fraction(size), value + Fraction(size) * Fraction(price)

    def close(self, symbol: str, leg: str, size: Decimal, price: Decimal) -> Fraction:
        held, value = self.held[symbol, leg]
        part, entry = Fraction(size), value / held
        moved = (Fraction(price) - entry) if leg == "long" else (entry - Fraction(price))
        if part == held:
            del self.held[symbol, leg]
        else:
            self.held[symbol, leg] = held - part, value - entry * part
        return moved * part / Fraction(price) if self.product_type == "COIN-FUTURES" else moved * part

    def row(self, symbol: str, side: str, trade_side: str, size: Decimal, price: Decimal, profit: Fraction) -> None:
        self.number += 1
        digits = Decimal("0.00000001")
        rounded = (Decimal(profit.numerator) / Decimal(profit.denominator)).quantize(digits, ROUND_HALF_UP)
        fees = []
        for _ in range(self.chance.choice((0, 1, 1, 1, 2))):
            coin = self.chance.choice((COINS[symbol], COINS[symbol], "BGB"))
            amount = str(Decimal(self.chance.randint(-9_999, 999)).scaleb(-5))
            deduction = self.chance.choice(("no", "no", "yes", None))
            fees.append({"deduction": deduction, "feeCoin": coin, "totalDeductionFee": None, "totalFee": amount})
        self.rows.append(
            {
                "tradeId": f"{10**18 + self.number}",
                "symbol": symbol.lower() if self.chance.random() < 0.1 else symbol,
                "orderId": f"{2 * 10**18 + self.orders}",
                "price": str(price),
                "baseVolume": str(size),
                "feeDetail": fees,
                "side": side,
                "quoteVolume": str((size * price).quantize(Decimal("0.0001"))),
                "profit": format(rounded, "f"),
                "tradeSide": trade_side,
                "posMode": self.mode,
                "tradeScope": "taker",
                "cTime": str(self.at),
            }
        )


def made_history(chance: random.Random) -> MadeHistory:
    """One account's fills; what was traded before the first of them may be unknown."""
    history = MadeHistory()
    for product_type in chance.sample(sorted(SYMBOLS), chance.randint(1, 3)):
        before = chance.choice((0, 0, 3))
        history.fills[product_type] = _Maker(product_type, chance, before=before).run(chance.randint(1, 25))
    return history


@dataclass
class SummedAgain:
    """Figures of a group in one coin."""

    gross: Fraction = Fraction(0)
    fees: Fraction = Fraction(0)
    volume: Fraction = Fraction(0)
    trades: int = 0
    wins: int = 0
    losses: int = 0


def order_of(row: RawFill) -> tuple[int, int, str]:
    """Where a fill stands in time."""
    return int(row["cTime"]), len(row["tradeId"]), row["tradeId"]


def fee_of(fee: dict[str, Any]) -> Fraction:
    """What a fee changes the account by."""
    amount = Fraction(fee["totalFee"])
    return -abs(amount) if fee["deduction"] == "yes" else amount


def local_day(at_ms: int, zone: str) -> str:
    """The day of a moment in a zone."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(ZoneInfo(zone)).date().isoformat()


def summed_again(history: MadeHistory, zone: str, by: str) -> dict[tuple[str, str], SummedAgain]:
    """The results of a history by `day`, `symbol` or `total` and coin."""
    sums: dict[tuple[str, str], SummedAgain] = defaultdict(SummedAgain)

    def group(at_ms: int, symbol: str) -> str:
        return {"day": local_day(at_ms, zone), "symbol": symbol, "total": ""}[by]

    for rows in history.fills.values():
        for row in rows:
            symbol, coin = row["symbol"].upper(), COINS[row["symbol"].upper()]
            entry = sums[group(int(row["cTime"]), symbol), coin]
            entry.gross += Fraction(row["profit"])
            entry.volume += Fraction(row["quoteVolume"])
            for fee in row["feeDetail"]:
                amount = fee_of(fee)
                if amount:
                    sums[group(int(row["cTime"]), symbol), fee["feeCoin"]].fees += amount
        orders: dict[tuple[str, str, str], list[tuple[int, Fraction]]] = defaultdict(list)
        for row, closed in closed_parts(rows):
            if closed is None:
                continue
            symbol, coin = row["symbol"].upper(), COINS[row["symbol"].upper()]
            own = sum((fee_of(fee) for fee in row["feeDetail"] if fee["feeCoin"] == coin), Fraction(0))
            leg = "net" if row["posMode"] == "one_way_mode" else hedge_leg(row)
            result = Fraction(row["profit"]) + own * closed / Fraction(row["baseVolume"])
            orders[symbol, leg, row["orderId"]].append((int(row["cTime"]), result))
        for (symbol, _, _), results in orders.items():
            entry = sums[group(max(at for at, _ in results), symbol), COINS[symbol]]
            total = sum(result for _, result in results)
            entry.trades += 1
            entry.wins += total > 0
            entry.losses += total < 0
    return dict(sums)


def hedge_leg(row: RawFill) -> str:
    """The leg of a fill in hedge mode."""
    for leg in ("long", "short"):
        if row["tradeSide"].endswith(f"_{leg}"):
            return leg
    return "long" if row["side"] == "buy" else "short"


def closed_parts(rows: list[RawFill]) -> list[tuple[RawFill, Fraction | None]]:
    """Each fill of a product type in time, and how much of it closes; None where it opens or that is not proven."""
    parts: list[tuple[RawFill, Fraction | None]] = []
    net: dict[str, Fraction | None] = defaultdict(lambda: None)
    assumed: dict[str, tuple[Fraction, Fraction]] = defaultdict(lambda: (Fraction(0), Fraction(0)))
    flat_known, mode = False, None
    in_doubt: set[str] = set()
    for row in sorted(rows, key=order_of):
        if mode is not None and row["posMode"] != mode:
            flat_known = True
            net.clear()
            assumed.clear()
            in_doubt.clear()
        mode = row["posMode"]
        size, symbol = Fraction(row["baseVolume"]), row["symbol"].upper()
        if mode == "hedge_mode":
            parts.append((row, None if row["tradeSide"] == "open" else size))
            continue
        signed = size if row["side"] == "buy" else -size
        word = not row["tradeSide"].endswith(("buy_single", "sell_single")) or row["tradeSide"].count("_") > 1
        if flat_known and symbol not in in_doubt:
            held = net[symbol] or Fraction(0)
            against = held * signed < 0
            if (against and word and size > abs(held)) or (not against and (word or Fraction(row["profit"]))):
                in_doubt.add(symbol)  # it closes what was never seen opened: fills are missing
                assumed[symbol] = Fraction(0), Fraction(0)
                parts.append((row, size))
                continue
            closes = min(size, abs(held)) if against else Fraction(0)
            net[symbol] = held + signed
            parts.append((row, closes or None))
            continue
        held, value = assumed[symbol]
        against = held * signed < 0
        if Fraction(row["profit"]) or word:
            closes = min(size, abs(held)) if against and not word else size
            parts.append((row, closes))
            if against and abs(held) > closes:
                assumed[symbol] = held + (closes if signed > 0 else -closes), value * (1 - closes / abs(held))
            else:
                rest = size - closes
                assumed[symbol] = (rest if signed > 0 else -rest), rest * Fraction(row["price"])
            continue
        parts.append((row, None))
        if against and Fraction(row["price"]) * abs(held) == value:
            closes = min(size, abs(held))
            rest = size - closes
            if rest:
                assumed[symbol] = (rest if signed > 0 else -rest), rest * Fraction(row["price"])
            else:
                assumed[symbol] = held + signed, value * (1 - closes / abs(held))
        elif against:
            assumed[symbol] = signed, size * Fraction(row["price"])
        else:
            assumed[symbol] = held + signed, value + size * Fraction(row["price"])
    return parts
