"""The library as a user meets it: signatures for the type checker, areas and endpoints for `help`."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
from pathlib import Path

import pytest

import tradetui.exchange
from tests.optional_packages import optional_command
from tradetui.exchange import ExchangeClient, ExchangeReader, InvalidRequest, TradingClient, client
from tradetui.exchange.client import EndpointArea
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint

ROOT = Path(__file__).parents[2]
AREAS = ("futures", "spot", "convert", "broker", "public", "unified", "subaccounts", "copytrading")
WRONG = """
from decimal import Decimal
from tradetui.exchange import Credentials, ExchangeClient, ExchangeReader, TradingClient

KEY = Credentials("key", "secret", "passphrase")


async def wrong(client: ExchangeClient, reader: ExchangeReader, trader: TradingClient) -> None:
    ExchangeClient("wrong", 5, nonsense=1)  # call-arg arg-type arg-type
    ExchangeReader(KEY, "https://api.example.com", priority="now")  # arg-type
    await client.futures.reverse(symbl="a")  # call-arg
    await client.futures.reverse(symbol="A", margin_coin="B", product_type="C", size=1.5)  # arg-type
    await client.futures.fills(product_type="USDT-FUTURES", limit="9")  # arg-type
    client.futures.iter_fills(symbol="BTCUSDT")  # call-arg
    await client.spot.bills(group="deposit")  # call-arg
    await client.subaccounts.create_batch(accounts=["a"])  # list-item
    await reader.futures.reverse(symbol="A", margin_coin="B", product_type="C")  # attr-defined
    trader.subaccounts  # attr-defined
    (await client.spot.fills()).rows[0].trade  # attr-defined


async def right(client: ExchangeClient) -> Decimal:
    async for page in client.futures.iter_fills(product_type="USDT-FUTURES", start_time=0):
        return page.rows[0].price
    return (await client.spot.fills(symbol="BTCUSDT")).rows[0].price_avg
"""


def test_the_type_checker_sees_every_parameter_and_every_row(tmp_path: Path) -> None:
    mypy = optional_command("mypy")
    file = tmp_path / "calls.py"
    file.write_text(WRONG, encoding="utf-8")
    # The cache is the one that checking the package has filled.
    command = [str(mypy), "--config-file", "pyproject.toml", "--show-error-codes", "--no-error-summary", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    reported: dict[int, list[str]] = {}
    for line in lines:
        reported.setdefault(int(line.split(":")[1]), []).append(line.rpartition("[")[2].rstrip("]"))
    expected = {
        number: line.partition("  # ")[2].split() for number, line in enumerate(WRONG.splitlines(), 1) if "  # " in line
    }
    assert reported == expected, done.stdout + done.stderr


def test_help_lists_the_areas_with_a_line_on_each() -> None:
    text = pydoc.plain(pydoc.render_doc(ExchangeClient))
    for area in AREAS:
        line = inspect.getdoc(inspect.getattr_static(ExchangeClient, area))
        assert line and "\n" not in line
        assert f" |  {area}\n |      {line}\n" in text


def test_help_says_what_each_argument_and_each_method_of_the_client_is() -> None:
    text = inspect.getdoc(ExchangeClient.__init__) or ""
    for parameter in list(inspect.signature(ExchangeClient).parameters):
        assert f"\n    {parameter}: " in text
    for name, method in inspect.getmembers(ExchangeClient, inspect.isfunction):
        assert name.startswith("_") or inspect.getdoc(method), name


def method_of(endpoint: Endpoint, prefix: str = "") -> object:
    area = getattr(ExchangeClient(None, "https://api.example.com"), endpoint.area)
    return getattr(area, prefix + endpoint.name.partition(".")[2])


@pytest.mark.parametrize("endpoint", CATALOGUE.values(), ids=lambda endpoint: endpoint.name)
def test_each_endpoint_is_a_coroutine_that_says_all_of_it(endpoint: Endpoint) -> None:
    method = method_of(endpoint)
    assert inspect.iscoroutinefunction(method)
    parameters = endpoint.request.parameters.values()
    signature = inspect.signature(method)
    assert list(signature.parameters) == [parameter.attribute for parameter in parameters]
    assert signature.return_annotation == f"Reply[{endpoint.row.__name__}]"
    for parameter in parameters:
        required = signature.parameters[parameter.attribute].default is inspect.Parameter.empty
        assert required is parameter.required
    text = inspect.getdoc(method) or ""
    assert (f"Endpoint {endpoint.number}:" if endpoint.core else "Beyond the interface:") in text
    limit = endpoint.limit
    window = "a second" if limit.window_s == 1 else f"in {limit.window_s} seconds"
    assert f"{endpoint.method} {endpoint.path}, at most {limit.calls} calls {window}" in text
    for parameter in parameters:
        assert f"{parameter.attribute}: {parameter.explanation}" in text
    assert "Decimal" in text and "InvalidRequest" in text
    assert ("OutcomeUnknown" in text) is endpoint.writes


async def test_a_value_without_a_name_is_refused_with_the_names() -> None:
    with pytest.raises(InvalidRequest, match=r"FuturesFillsRequest: parameters by name.*product_type"):
        await ExchangeClient(None, "https://api.example.com").futures.fills("USDT-FUTURES")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "endpoint", [endpoint for endpoint in CATALOGUE.values() if endpoint.page], ids=lambda endpoint: endpoint.name
)
def test_each_paged_endpoint_iterates_over_pages_with_the_same_parameters(endpoint: Endpoint) -> None:
    iterator = method_of(endpoint, "iter_")
    assert callable(iterator)
    page, pages = inspect.signature(method_of(endpoint)), inspect.signature(iterator)  # type: ignore[arg-type]
    assert page.parameters == pages.parameters
    assert pages.return_annotation == f"AsyncIterator[Reply[{endpoint.row.__name__}]]"


def test_an_area_has_each_method_under_the_name_it_bears() -> None:
    for area in vars(client).values():
        if inspect.isclass(area) and issubclass(area, EndpointArea):
            for name, method in vars(area).items():
                if inspect.isfunction(method) and not name.startswith("_"):
                    assert method.__name__ == name


def test_only_what_may_write_has_a_method_that_writes() -> None:
    writes = {endpoint.name for endpoint in CATALOGUE.values() if endpoint.writes}
    writable: dict[type[ExchangeReader], set[str]] = {}
    for kind in (ExchangeReader, TradingClient, ExchangeClient):
        client = kind(None, "https://api.example.com")
        areas_of_kind = {area: getattr(client, area) for area in AREAS if hasattr(client, area)}
        methods = {f"{name}.{method}" for name, area in areas_of_kind.items() for method in dir(area)}
        writable[kind] = writes & methods
    assert writable == {ExchangeReader: set(), TradingClient: {"futures.reverse"}, ExchangeClient: writes}


def test_every_exported_name_is_there_and_documented() -> None:
    for name in tradetui.exchange.__all__:
        assert inspect.getdoc(getattr(tradetui.exchange, name)), name
    for file in sorted((ROOT / "tradetui" / "exchange").glob("*.py")):
        assert file.read_text(encoding="utf-8").startswith('"""'), file.name
