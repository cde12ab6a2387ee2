"""Whose account it is: the exchange's word first, then the profile's, then a stand-in made of the key."""

from __future__ import annotations

import pytest

from tests.desk.fixtures.scripted_exchange import ScriptedClient
from tradetui.desk.account.identity import AccountIdentity, AccountKey, identify, stand_in
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, Unreachable
from tradetui.wire.models.api_key import AccountInfo
from tradetui.wire.product_types import ProductType

INFO = "spot.account_info"


async def identified(client: ScriptedClient, uid: str | None) -> AccountIdentity:
    key = AccountKey("https://api.example.com", "live", stand_in("bg_key"))
    return await identify(client, key, uid)  # type: ignore[arg-type]


def telling() -> ScriptedClient:
    client = ScriptedClient()
    info = AccountInfo.from_row({"userId": "42", "traderType": "not_trader"})
    client.rows[INFO, ProductType.USDT_FUTURES] = [info]
    return client


async def test_the_exchange_goes_first() -> None:
    identity = await identified(telling(), "7")
    assert (identity.uid, identity.origin, identity.known) == ("42", "exchange", True)
    assert identity.info is not None


@pytest.mark.parametrize("refusal", [EndpointMissing("no", code="40404"), PermissionRefused("no", code="40014")])
async def test_then_the_profile_then_the_key(refusal: ExchangeError) -> None:
    client = telling()
    client.failing[INFO] = refusal
    assert (await identified(client, "7")).origin == "profile"
    by_key = await identified(client, None)
    assert by_key.origin == "key"
    assert not by_key.known
    assert "bg_key" not in by_key.uid


async def test_no_answer_is_no_word_of_the_exchange() -> None:
    client = telling()
    client.failing[INFO] = Unreachable("no route")
    with pytest.raises(Unreachable):
        await identified(client, "7")


async def test_address_environment_and_uid_are_the_account() -> None:
    one = AccountIdentity("https://a", "live", "42", "exchange")
    assert one.name == AccountIdentity("https://a", "live", "42", "profile").name
    others = {
        AccountIdentity("https://b", "live", "42", "profile").name,
        AccountIdentity("https://a", "demo", "42", "profile").name,
        AccountIdentity("https://a", "live", "43", "profile").name,
    }
    assert len(others | {one.name}) == 4
