"""Transaction records for BittyTax: each event once, always the same line, read by that program without an error."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.commands.conftest import Point
from tests.optional_packages import import_optional
from tradetui.cli import main
from tradetui.commands.process.console import DONE, Output
from tradetui.commands.show import bittytax
from tradetui.commands.show.bittytax import HEADINGS, BittyTaxWriter, TaxRow, futures_fill_events, write_funding
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.errors import PermissionRefused
from tradetui.trading.results.booking import booked_fill
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import BusinessType
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesBill
from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
from tradetui.wire.product_types import ProductType

Capture = pytest.CaptureFixture[str]
KINDS = ("fills", "spot-fills", "spot-bills", "convert")
AT = "1790000000000"


def futures_fill(**changed: Any) -> FuturesFill:
    fee = {"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": "", "totalFee": "-0.5"}
    values = {"tradeId": "9", "symbol": "BTCUSDT", "orderId": "8", "price": "84000", "baseVolume": "0.1", "cTime": AT}
    enums = {"side": "buy", "tradeSide": "close", "posMode": "hedge_mode", "profit": "12.5", "feeDetail": [fee]}
    return FuturesFill.from_row({**values, **enums, **changed})


def spot_fill(**changed: Any) -> SpotFill:
    fee = {"deduction": "no", "feeCoin": "BTC", "totalDeductionFee": "", "totalFee": "-0.0001"}
    values = {"tradeId": "5", "symbol": "BTCUSDT", "side": "buy", "priceAvg": "84000", "size": "0.1", "cTime": AT}
    return SpotFill.from_row({**values, "amount": "8400", "feeDetail": fee, **changed})


def bill(business_type: str, size: str = "10", fees: str = "0") -> SpotBill:
    values = {"cTime": AT, "coin": "USDT", "groupType": "other", "balance": "0", "billId": business_type}
    return SpotBill.from_row({**values, "businessType": business_type, "size": size, "fees": fees})


def written(*rows: Any) -> tuple[list[dict[str, str]], BittyTaxWriter]:
    stream = io.StringIO()
    writer = BittyTaxWriter(Output(stream))
    for row in rows:
        writer.write(row)
    writer.close()
    return list(csv.DictReader(io.StringIO(stream.getvalue()))), writer


def brief(row: TaxRow) -> tuple[str, Decimal | None, str, Decimal | None, str]:
    return row.type, row.bought, row.bought_asset, row.sold, row.sold_asset


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, [("Margin-Gain", Decimal("12.5"), "USDT", None, ""), ("Margin-Fee", None, "", Decimal("0.5"), "USDT")]),
        (
            {"profit": "-3"},
            [("Margin-Loss", None, "", Decimal(3), "USDT"), ("Margin-Fee", None, "", Decimal("0.5"), "USDT")],
        ),
        (
            {"profit": "0", "feeDetail": [{"feeCoin": "USDT", "totalFee": "0.2", "deduction": "no"}]},
            [("Margin-Fee-Rebate", Decimal("0.2"), "USDT", None, "")],
        ),
        (
            {"profit": "0", "feeDetail": [{"feeCoin": "BGB", "totalFee": "0.2", "deduction": "yes"}]},
            [("Margin-Fee", None, "", Decimal("0.2"), "BGB")],
        ),
        ({"profit": None, "feeDetail": []}, []),
    ],
)
def test_a_futures_fill_is_its_profit_and_its_fees(changed: dict[str, Any], expected: list[Any]) -> None:
    fill = futures_fill(**changed)
    events = list(futures_fill_events(fill, booked_fill(ProductType.USDT_FUTURES, fill, 0)))
    assert [brief(event) for event in events] == expected


def test_fills_without_fee_or_profit_are_said() -> None:
    futures = (futures_fill(), futures_fill(feeDetail=None), futures_fill(feeDetail=[{}]), futures_fill(profit=""))
    rows = [ProductRow(ProductType.USDT_FUTURES, fill) for fill in futures]
    _, writer = written(*rows, spot_fill(), spot_fill(feeDetail=""))
    assert writer.incomplete == 4
    assert writer.remarks() == ["the exchange gave no fee or no profit for 4 fills; enter it by hand."]


def test_a_spot_fill_is_a_trade_with_its_fee() -> None:
    rows, _ = written(spot_fill(), spot_fill(side="sell", tradeId="6", feeDetail={"feeCoin": "USDT", "totalFee": "1"}))
    bought, sold = (row for row in rows if row["Type"] == "Trade")
    assert (bought["Buy Quantity"], bought["Buy Asset"], bought["Sell Quantity"]) == ("0.1", "BTC", "8400")
    assert (bought["Fee Quantity"], bought["Fee Asset"]) == ("0.0001", "BTC")
    assert (sold["Buy Quantity"], sold["Sell Quantity"], sold["Sell Asset"]) == ("8400", "0.1", "BTC")
    (rebate,) = (row for row in rows if row["Type"] == "Fee-Rebate")
    assert (rebate["Buy Quantity"], rebate["Buy Asset"], sold["Fee Quantity"]) == ("1", "USDT", "")


def test_bills_are_events_left_out_or_said_to_be_unknown() -> None:
    rows, writer = written(
        bill("deposit"),
        bill("WITHDRAW", "-7", "-1"),
        bill("AIRDROP_REWARDS"),
        bill("transfer-in"),
        bill("buy"),
        bill("MYSTERY_BONUS"),
    )
    assert {row["Type"] for row in rows} == {"Deposit", "Withdrawal", "Airdrop"}
    (withdrawal,) = (row for row in rows if row["Type"] == "Withdrawal")
    assert (withdrawal["Sell Quantity"], withdrawal["Fee Quantity"]) == ("7", "1")
    assert (writer.trade_bills, dict(writer.unknown)) == (1, {"bills of type MYSTERY_BONUS": 1})
    assert "1 bills of type MYSTERY_BONUS" in " ".join(writer.remarks())


def test_a_type_of_bill_that_is_known_but_not_placed_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one is that the exchange adds and that so far only the list of its business types has."""
    monkeypatch.delitem(bittytax._BILL_TYPES, BusinessType.AIRDROP_REWARDS)
    rows, writer = written(
        bill("AIRDROP_REWARDS"), bill("deposit"), bill("transfer-out", "-7"), bill("user lock", "-7")
    )
    assert [row["Type"] for row in rows] == ["Deposit"]
    assert dict(writer.unknown) == {"bills of type AIRDROP_REWARDS": 1}


def test_every_type_of_bill_is_an_event_a_trade_or_none() -> None:
    assert {*bittytax._BILL_TYPES, *bittytax._TRADES, *bittytax._NO_EVENTS} == set(BusinessType)


def test_rows_stand_oldest_first_and_hold_no_formula() -> None:
    later = futures_fill(tradeId="=1+1", cTime="1790000009000")
    converted = ConvertRecord.from_row(
        {"id": "3", "ts": AT, "fee": "0", "fromCoinSize": "1", "fromCoin": "=X", "toCoinSize": "2", "toCoin": "USDT"}
    )
    rows, _ = written(ProductRow(ProductType.USDT_FUTURES, later), converted)
    assert [row["Timestamp"] for row in rows] == sorted(row["Timestamp"] for row in rows)
    assert rows[0]["Sell Asset"] == "'=X"
    assert tuple(rows[0]) == HEADINGS


def funding_bill(bill_id: str, amount: str = "-2") -> FuturesBill:
    values = {"billId": bill_id, "symbol": "BTCUSDT", "businessType": "contract_settle_fee", "coin": "USDT"}
    return FuturesBill.from_row({**values, "amount": amount, "cTime": AT})


def test_funding_of_nothing_is_no_event() -> None:
    assert written(ProductRow(ProductType.USDT_FUTURES, funding_bill("1", amount="0")))[0] == []


async def test_funding_that_is_refused_midway_is_left_out_whole(capsys: Capture) -> None:
    class Client:
        server_clock = SimpleNamespace(now_ms=int(AT))

        async def pages(self, request: Any, **_: int) -> AsyncIterator[Reply[FuturesBill]]:
            if request.product_type == ProductType.USDC_FUTURES:
                raise PermissionRefused("40014")
            yield Reply(rows=(funding_bill("1"),))

    async def rows_with_funding(*product_types: ProductType) -> int:
        groups = [[SimpleNamespace(product_type=name, start_time=1, end_time=2)] for name in product_types]
        options = SimpleNamespace(symbol=None, all=True)
        reader: Any = SimpleNamespace(
            client=Client(), options=options, span=None, progress=SimpleNamespace(has_more=False)
        )
        writer = BittyTaxWriter(Output(io.StringIO()))
        await write_funding(reader, groups, writer)
        return len(writer._rows)

    assert await rows_with_funding(ProductType.USDT_FUTURES) == 1
    assert await rows_with_funding(ProductType.USDT_FUTURES, ProductType.USDC_FUTURES) == 0
    assert "funding is not in this, since it cannot be read" in capsys.readouterr().err


def exported(capsys: Capture, what: str, *arguments: str) -> list[str]:
    assert main(["show", what, "--format", "bittytax", *arguments]) == DONE
    return capsys.readouterr().out.splitlines()


def test_two_exports_that_overlap_share_their_lines(point: Point, capsys: Capture) -> None:
    point("one-way")
    for what in ("fills", "spot-fills"):
        first = exported(capsys, what, "--all", "--since", "12d", "--until", "6d")
        second = exported(capsys, what, "--all", "--since", "9d", "--until", "3d")
        whole = exported(capsys, what, "--all", "--since", "12d", "--until", "3d")
        # The ends lie some seconds apart, since each run counts days back from its own now.
        assert set(first[1:]) | set(second[1:]) >= set(whole[2:-2])
        assert set(first[1:]) & set(second[1:])
        assert len(set(whole)) == len(whole), "each event is told from every other"
        times = [row["Timestamp"] for row in csv.DictReader(whole)]
        assert times == sorted(times)


def test_profit_fees_and_funding_are_what_the_results_say(point: Point, capsys: Capture) -> None:
    point("one-way")
    assert main(["show", "fills", "--limit", "50", "--json"]) == DONE
    until_ms = int(json.loads(capsys.readouterr().out)[-1]["cTime"])
    period = ("--since", str(until_ms - 10 * DAY_MS), "--until", str(until_ms))
    lines = exported(capsys, "fills", "--all", *period)
    sums: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for row in csv.DictReader(lines):
        coin = row["Buy Asset"] or row["Sell Asset"]
        figure = "funding" if row["Note"].endswith("funding") else "fees" if "Fee" in row["Type"] else "gross"
        sums[figure, coin] += Fraction(row["Buy Quantity"] or 0) - Fraction(row["Sell Quantity"] or 0)
    assert {figure for figure, _ in sums} == {"gross", "fees", "funding"}
    # Results end before --until, rows of fills with it.
    until_after = ("--since", str(until_ms - 10 * DAY_MS), "--until", str(until_ms + 1))
    assert main(["show", "pnl", "--by", "coin", "--json", *until_after]) == DONE
    results = json.loads(capsys.readouterr().out)
    assert len(results) > 1
    for row in results:
        for figure in ("gross", "fees", "funding"):
            assert sums[figure, row["coin"]] == Fraction(row[figure]), figure


def test_bittytax_reads_every_line(point: Point, capsys: Capture, tmp_path: Path) -> None:
    import_optional("bittytax")
    point()
    lines = {what: exported(capsys, what, "--all", "--since", "10d") for what in KINDS}
    balances = dict(zip(KINDS, audited(tmp_path, *lines.values()), strict=True))
    for what in KINDS:
        assert balances[what] == expected_balances(lines[what]), what


def test_an_export_that_is_imported_again_with_a_later_one_adds_nothing(
    point: Point, capsys: Capture, tmp_path: Path
) -> None:
    import_optional("bittytax")
    point()
    assert main(["show", "fills", "--limit", "1", "--json"]) == DONE
    until_ms = int(json.loads(capsys.readouterr().out)[0]["cTime"])

    def days(first: int, last: int) -> list[str]:
        period = ("--since", str(until_ms - first * DAY_MS), "--until", str(until_ms - last * DAY_MS))
        return exported(capsys, "fills", "--all", *period)

    whole, early, late = days(9, 0), days(9, 3), days(6, 0)
    assert len(early) + len(late) > len(whole) + 10, "they overlap"
    of_whole, of_joined = audited(tmp_path, whole, list(dict.fromkeys([*early, *late, *early])))
    assert of_whole == of_joined


AUDIT_ALL_FILES = """
import os, sys
from bittytax.bittytax import main
options, files = sys.argv[1:4], sys.argv[4:]
for file in files:
    if not os.fork():
        os.dup2(os.open(file + ".out", os.O_WRONLY | os.O_CREAT | os.O_EXCL), 1)
        sys.argv[1:] = [*options, file]
        sys.exit(main())
    _, status = os.wait()
    if status:
        sys.exit(1)
"""
"""BittyTax, which takes half a second to load, loaded once; each file is read by a process that has read no other."""


def audited(folder: Path, *exports: Sequence[str]) -> list[dict[str, Decimal]]:
    """The balances of each export as BittyTax has them; every record must have been imported."""
    files = [folder / f"{number}.csv" for number in range(len(exports))]
    for file, lines in zip(files, exports, strict=True):
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-c", AUDIT_ALL_FILES, "--audit", "--nopdf", "--skipint", *map(str, files)]
    environment = {**os.environ, "HOME": str(folder), "NO_COLOR": "1"}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [balances_in(file.with_name(f"{file.name}.out").read_text(encoding="utf-8")) for file in files]


def balances_in(printed: str) -> dict[str, Decimal]:
    """The balance of each coin, as an audit prints it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    assert "failure=0" in text, text[-2_000:]
    assets = text.partition("Asset Balances (Cryptoassets)")[2].partition("Asset Balances (Fiat")[0]
    rows = (line.split() for line in assets.splitlines())
    return {cells[0]: Decimal(cells[1].replace(",", "")) for cells in rows if len(cells) >= 2 and cells[0] != "Asset"}


def expected_balances(lines: list[str]) -> dict[str, Decimal]:
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in csv.DictReader(lines):
        for name, sign in (("Buy", 1), ("Sell", -1), ("Fee", -1)):
            if row[f"{name} Quantity"]:
                totals[row[f"{name} Asset"]] += sign * Decimal(row[f"{name} Quantity"])
    return dict(totals)
