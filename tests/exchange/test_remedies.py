"""Every error of the client says what to do, to a library's user as to a trader."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
from pathlib import Path

import pytest
from pydantic import SecretStr

import tradetui.exchange
from tradetui.exchange import ExchangeReader, InvalidRequest, errors
from tradetui.exchange.calls.result import parse_response, read_result, write_result
from tradetui.exchange.errors import EndpointMissing, ExchangeError, Rejected
from tradetui.exchange.transport.transport import HttpResponse
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.error_codes import COPY_KEY_REFUSALS, MEANINGS, meaning

ROOT = Path(tradetui.exchange.__file__).parent
KINDS = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, ExchangeError)}


def test_no_error_is_made_without_a_remedy() -> None:
    made = 0
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in KINDS:
                made += 1
                options = {keyword.arg for keyword in node.keywords}
                # `**said` is the one mapping, in verdict.py, that holds a remedy.
                assert options & {"remedy", None}, f"{file.name}:{node.lineno}"
    assert made > 10


@pytest.mark.parametrize("code", [*sorted(MEANINGS), "31901", "98765"])
def test_every_code_has_one(code: str) -> None:
    assert meaning(code).remedy


@pytest.mark.parametrize("message", COPY_KEY_REFUSALS)
def test_a_documented_refusal_without_a_code_has_its_own(message: str) -> None:
    endpoint = CATALOGUE["copytrading.create_api_key"]
    body = json.dumps({"code": "31901", "msg": f"{message}.", "requestTime": 1, "data": None}).encode()
    refusal = write_result(endpoint, parse_response(1, HttpResponse(400, {"content-type": "application/json"}, body)))
    assert isinstance(refusal, Rejected)
    assert refusal.remedy == COPY_KEY_REFUSALS[message]
    assert str(refusal) == f"{refusal.sentence} {refusal.remedy}"


@pytest.mark.parametrize(
    ("name", "remedy"), [("futures.reverse", "Check base_url"), ("futures.positions", "the program works without it")]
)
def test_only_an_endpoint_beyond_the_interface_may_be_missing(name: str, remedy: str) -> None:
    body = b'{"code": "40404", "msg": "Request URL NOT FOUND", "requestTime": 1, "data": null}'
    answer = parse_response(1, HttpResponse(404, {"content-type": "application/json"}, body))
    endpoint = CATALOGUE[name]
    refusal = write_result(endpoint, answer) if endpoint.writes else read_result(endpoint, answer)
    assert isinstance(refusal, EndpointMissing)
    assert remedy in str(refusal)


async def test_a_broken_rule_is_an_error_of_the_client_with_field_rule_and_remedy() -> None:
    async with ExchangeReader(None, "https://api.example.com") as client:
        with pytest.raises(tradetui.exchange.ExchangeError) as refusal:
            await client.futures.fills(product_type="USDT-FUTURES", limit=0)
    problem = refusal.value
    assert isinstance(problem, tradetui.exchange.InvalidRequest)
    assert (problem.parameter, problem.value) == ("limit", "0")
    assert problem.rule.startswith("a whole number of at least 1, at most 100")
    assert problem.remedy == "Ask for 1 to 100 rows a page; more rows are further pages."
    assert str(problem) == f"limit: {problem.rule}; given: 0. {problem.remedy}"
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


def test_a_broken_rule_shows_no_secret_and_no_endless_value() -> None:
    assert "tell-nobody" not in str(InvalidRequest("passphrase", "text", SecretStr("tell-nobody"), "Give it."))
    assert len(str(InvalidRequest("symbol", "text", "X" * 10_000, "Shorten it."))) < 200
