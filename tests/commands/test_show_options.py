"""The requests of `show`, without reading anything."""

from __future__ import annotations

import argparse
from datetime import UTC
from pathlib import Path

import pytest

from tradetui.commands.doctor import CheckStatus, _check_product_types, _check_reply
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.show import show
from tradetui.commands.show.options import requests_of, show_parser
from tradetui.commands.show.reading import ReadingProgress
from tradetui.desk.tables.table import TABLES
from tradetui.exchange.errors import PermissionRefused
from tradetui.profiles.load import Flags, load
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures import FuturesFill, FuturesFillsRequest
from tradetui.wire.models.spot import SpotFillsRequest
from tradetui.wire.product_types import ProductType

NOW_MS = 1_793_574_000_000
"""2026-11-01 23:00 UTC."""
ENVIRONMENT = {
    "TRADETUI_API_KEY": "key",
    "TRADETUI_API_SECRET": "secret",
    "TRADETUI_PASSPHRASE": "passphrase",
    "TRADETUI_BASE_URL": "https://api.example.com",
}


@pytest.mark.parametrize(
    ("until", "end_ms"),
    [("2026-11-01", NOW_MS), ("2026-10-31", 1_793_491_200_000 - 1), ("2026-11-01T22:00", NOW_MS - 3_600_000)],
)
def test_a_day_as_the_end_is_included_as_far_as_it_has_come(tmp_path: Path, until: str, end_ms: int) -> None:
    assert _spot_fills(tmp_path, "--until", until).end_time == end_ms


def test_an_end_after_today_is_refused_as_in_a_lookup(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"--until: must not be after today; given: 2027-01-01\. Without it"):
        _spot_fills(tmp_path, "--until", "2027-01-01")


def test_the_earliest_start_is_still_kept_when_the_request_arrives(tmp_path: Path) -> None:
    start = _spot_fills(tmp_path, "--since", "90d").start_time
    assert isinstance(start, int) and start > NOW_MS - 90 * DAY_MS
    assert _spot_fills(tmp_path, "--since", "89d").start_time == NOW_MS - 89 * DAY_MS


def _spot_fills(tmp_path: Path, *extra_options: str) -> SpotFillsRequest:
    options = show_parser().parse_args(["spot-fills", *extra_options])
    config = tmp_path / "config.toml"
    config.write_text('[profiles.main]\ntimezone = "UTC"\n')
    config.chmod(0o600)
    settings = OpenProfile(load(ENVIRONMENT, Flags(config=config))).settings_without_key
    ((request,),), _ = requests_of(options, TABLES[options.what].endpoint, settings, NOW_MS)
    assert isinstance(request, SpotFillsRequest)
    return request


def test_rows_of_other_product_types_are_spoken_of_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ReadingProgress("fills")
    progress.left_out = {"BTCPERP"}
    requests = [[FuturesFillsRequest(product_type="USDT-FUTURES")]]
    show._say_what_is_left_out(argparse.Namespace(what="fills", limit=None, all=False), progress, requests, UTC)
    assert capsys.readouterr().err == "tradetui: rows of BTCPERP left out: not of USDT-FUTURES.\n"
    progress.left_out, progress.kept_symbols = {"EURUSD", "BTCUSD"}, {"BTCUSD"}
    requests.append([FuturesFillsRequest(product_type="COIN-FUTURES")])
    show._say_what_is_left_out(argparse.Namespace(what="fills", limit=None, all=False), progress, requests, UTC)
    assert capsys.readouterr().err == "tradetui: rows of EURUSD left out: named like another product type's.\n"


async def test_doctor_says_of_which_symbols_rows_are_left_out() -> None:
    async def read() -> Reply[FuturesFill]:
        return Reply((), left_out=("BTCPERP",))

    check = await _check_reply("fills", "can be read", read, [ProductType.USDT_FUTURES])
    assert check.finding == "can be read; rows of BTCPERP left out: not of USDT-FUTURES"


async def test_doctor_names_the_product_type_that_cannot_be_read() -> None:
    both = [ProductType.USDT_FUTURES, ProductType.COIN_FUTURES]
    refused: set[ProductType] = set()

    async def read(product_type: ProductType) -> Reply[FuturesFill]:
        if product_type in refused:
            raise PermissionRefused("no permission", code="40014")
        return Reply(())

    assert (await _check_product_types("fills", read, both)).finding == "can be read with this API key"
    refused.add(ProductType.COIN_FUTURES)
    check = await _check_product_types("fills", read, both)
    assert check.status is CheckStatus.FAILED
    assert check.finding.startswith("USDT-FUTURES can be read with this API key; COIN-FUTURES ")
    assert "(40014)" in check.finding
