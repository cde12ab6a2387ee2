"""The public Node client bitget-api works on the sandbox unchanged, and reads what `tradetui show` prints."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.optional_packages import absent
from tests.whole.peers.sandbox_program import key_of, sandbox_program, show, unified_rows

ROOT = Path(__file__).parents[3]
NODE = Path(__file__).parent / "node"
DAY_MS = 86_400_000
USDT = {"productType": "USDT-FUTURES"}
BTC = {**USDT, "symbol": "BTCUSDT"}
CATEGORY = {"category": "USDT-FUTURES"}


class NodeClient(Protocol):
    """Calls of one account by the Node client."""

    def __call__(self, name: str, calls: Sequence[tuple[str, Any]], **changed: Any) -> list[dict[str, Any]]: ...


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """A sandbox whose market stands almost still, so that two reads see the same."""
    with sandbox_program("--dialect", "live") as running:
        yield running


@pytest.fixture(scope="module")
def node(request: pytest.FixtureRequest) -> Iterator[NodeClient]:
    """What each call of the Node client gave: `reply`, or `status` and `refused`; its program is started once."""
    if shutil.which("node") is None or not (NODE / "node_modules" / "bitget-api").exists():
        absent("the Node client is not installed; .ci/run installs it: npm install --prefix tests/whole/peers/node")
    server = request.getfixturevalue("server")
    with subprocess.Popen(
        ["node", "call.mjs"], cwd=NODE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        questions, answers = program.stdin, program.stdout

        def results_of(name: str, calls: Sequence[tuple[str, Any]], **changed: Any) -> list[dict[str, Any]]:
            key = key_of(server, name)
            question = {
                "baseUrl": server["base_url"],
                "apiKey": key["api_key"],
                "apiSecret": key["secret"],
                "apiPass": key["passphrase"],
                "calls": calls,
                **changed,
            }
            questions.write(json.dumps(question) + "\n")
            questions.flush()
            line = answers.readline()
            assert line, "the Node program ended: see its error above"
            results: list[dict[str, Any]] = json.loads(line)
            return results

        yield results_of


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The list in a reply, whatever its key."""
    data = result["reply"]["data"]
    if isinstance(data, list):
        return data
    return next(value for value in data.values() if isinstance(value, list))


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows in an order that depends on nothing but what they hold."""
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.parametrize(
    ("method", "parameters", "arguments"),
    [
        ("getFuturesAccountAssets", USDT, "accounts --product-type USDT-FUTURES"),
        ("getFuturesPositions", USDT, "positions --product-type USDT-FUTURES"),
        ("getFuturesOpenOrders", BTC, "orders --product-type USDT-FUTURES --symbol BTCUSDT --status live"),
        ("getFuturesFills", BTC, "fills --product-type USDT-FUTURES --symbol BTCUSDT"),
        (
            "getFuturesHistoricPlanOrders",
            {**USDT, "planType": "profit_loss"},
            "triggers --product-type USDT-FUTURES --plan-type profit_loss",
        ),
        ("getSpotFills", {"symbol": "ETHUSDT"}, "spot-fills --symbol ETHUSDT"),
        ("getSpotAccountBills", {"businessType": "REBATE_REWARDS"}, "spot-bills --business-type REBATE_REWARDS"),
    ],
)
def test_the_same_rows(
    node: NodeClient, server: dict[str, Any], method: str, parameters: dict[str, str], arguments: str
) -> None:
    theirs = rows_of(node("hedge", [(method, parameters)])[0])
    ours = show(server, "hedge", *arguments.split())
    assert theirs and len(ours) == len(theirs)
    kept = set(theirs[0]) if method == "getFuturesPositions" else set(ours[0])
    assert in_order({name: row[name] for name in kept if name in row} for row in ours) == in_order(theirs)


def test_converts_and_transfers_of_a_range(node: NodeClient, server: dict[str, Any]) -> None:
    now = int(node("hedge", [("getServerTime", {})])[0]["reply"]["data"]["serverTime"])
    span = {"startTime": str(now - 7 * DAY_MS), "endTime": str(now)}
    arguments = ("--since", span["startTime"], "--until", span["endTime"])
    converts = rows_of(node("hedge", [("getConvertHistory", {**span, "limit": "100"})])[0])
    assert converts and show(server, "hedge", "convert", *arguments, "--limit", "100") == converts
    transfers = rows_of(node("broker", [("getAllSubDepositWithdrawalRecords", span)])[0])
    assert transfers and show(server, "broker", "transfers", *arguments) == transfers
    email = node("broker", [("getSubaccountEmail", {"subUid": transfers[0]["uid"]})])[0]["reply"]["data"]
    assert show(server, "broker", "email", "--sub-uid", transfers[0]["uid"]) == [email]


def test_words_with_spaces_are_signed(node: NodeClient) -> None:
    (answered,) = node("hedge", [("getSpotAccountBills", {"businessType": "no such type"})])
    assert (answered["status"], answered["refused"]["code"]) == (400, "40020"), "past the signature"


def test_it_reverses(node: NodeClient, server: dict[str, Any]) -> None:
    before = show(server, "managed", "positions", "--product-type", "USDT-FUTURES")
    leg = next(row for row in before if row["holdSide"] == "long" and row["available"] == row["total"])
    request = {**USDT, "symbol": leg["symbol"], "marginCoin": "USDT", "size": leg["total"], "side": "buy"}
    results = node(
        "managed",
        [("futuresSubmitReversal", request), ("futuresSubmitReversal", {**request, "tradeSide": "open"})],
    )
    assert results[0]["refused"]["code"] == "40774"
    assert results[1]["reply"]["data"]["orderId"]


def test_its_errors(node: NodeClient) -> None:
    call = [("getFuturesPositions", USDT)]
    for changed, code in (
        ({"apiSecret": "wrong"}, "40009"),
        ({"apiPass": "wrongwrong"}, "40012"),
        ({"apiKey": "bg_nobody"}, "40037"),
        ({"demoTrading": True}, "40099"),
    ):
        (result,) = node("hedge", call, **changed)
        assert (result["status"], result["refused"]["code"]) == (400, code)
    assert node("demo", call)[0]["refused"]["code"] == "40099"
    assert "reply" in node("demo", call, demoTrading=True)[0]
    assert node("unified", call)[0]["refused"]["code"] == "40085"


def test_too_many_calls(node: NodeClient) -> None:
    results = node("one-way", [("getFuturesPositions", USDT)] * 12, together=True)
    refused = [result for result in results if "refused" in result]
    assert {(result["status"], result["refused"]["code"]) for result in refused} == {(429, "429")}
    assert len(refused) >= 12 - 2 * 5


@pytest.mark.parametrize(
    ("name", "parameters", "method"),
    [
        ("getBalances", None, "assets"),
        ("getAccountSettings", None, "settings"),
        ("getAccountInfo", None, "key"),
        ("getCurrentPosition", CATEGORY, "positions"),
        ("getPositionHistory", CATEGORY, "closed_positions"),
        ("getUnfilledOrders", CATEGORY, "orders"),
        ("getTradeFills", {**CATEGORY, "limit": "37"}, "fills"),
        ("getHistoryStrategyOrders", {**CATEGORY, "type": "tpsl"}, "triggers"),
        ("getUnfilledStrategyOrders", CATEGORY, "live_triggers"),
    ],
)
def test_the_same_rows_of_a_unified_account(
    node: NodeClient, server: dict[str, Any], name: str, parameters: dict[str, str] | None, method: str
) -> None:
    (result,) = node("unified", [(name, parameters)], unified=True)
    data = result["reply"]["data"]
    theirs = data if isinstance(data, list) else data.get("list", [data])
    assert theirs and unified_rows(server, method, **parameters or {}) == theirs


def test_its_errors_of_a_unified_account(node: NodeClient) -> None:
    calls = [("getCurrentPosition", {"category": "SPOT"}), ("getTradeFills", {"cursor": "abc"})]
    results = node("unified", calls, unified=True)
    assert {(result["status"], result["refused"]["code"]) for result in results} == {(400, "400172")}
    for changed, code in (({}, "40084"), ({"apiSecret": "wrong"}, "40084"), ({"apiKey": "bg_nobody"}, "40037")):
        (result,) = node("hedge", [("getBalances", None)], unified=True, **changed)
        assert (result["status"], result["refused"]["code"]) == (400, code)
