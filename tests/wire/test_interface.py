"""Catalogue and models are held to the tables of the interface document, in both directions."""

from __future__ import annotations

import pytest

from tests.wire.interface_differences import REPLY_ENUMS, SHOWN_AS_THEY_CAME, differences
from tests.wire.interface_document import listed_values, parse


def test_catalogue_and_models_say_what_the_document_says(interface_text: str) -> None:
    document = parse(interface_text)
    assert len(document.endpoints) == 13
    assert len(document.limits) == 13
    assert list(differences(document)) == []


def test_every_listing_of_words_in_a_reply_is_held_to_a_vocabulary(interface_text: str) -> None:
    document = parse(interface_text)
    free = {(3, "userId"), (4, "uid")}
    for number, resource in document.resources.items():
        for row in resource.tables[0]:
            enum_values = listed_values(row["Description"]) if row["Description"] else []
            listing = len(enum_values) > 1 and all(" " not in word for word in enum_values)
            if listing and (number, row["Field"]) not in free:
                assert (number, row["Field"]) in REPLY_ENUMS.keys() | SHOWN_AS_THEY_CAME, (number, row)


# One change to the document each; the check must notice every one.
CHANGES = [
    ("GET /api/v2/mix/order/fills", "GET /api/v2/mix/order/fills-all"),
    ("POST /api/v2/mix/order/click-backhand", "GET /api/v2/mix/order/click-backhand"),
    ("| 9 Get convert history | 10 times/second", "| 9 Get convert history | 9 times/second"),
    ("10 requests/second per UID; 1 request/second", "10 requests/second per UID; 2 requests/second"),
    ("5 requests/second per UID", "6 requests/second per UID"),
    ("| subUid | String | Yes | Sub-account user ID. |", "| subUid | String | No | Sub-account user ID. |"),
    ("| planType | String | Yes |", "| planType | String | No |"),
    ("| marginCoin | String | Yes | Margin coin, for", "| marginCoins | String | Yes | Margin coin, for"),
    ("| No | Default 20, maximum 100. |", "| No | Default 50, maximum 100. |"),
    ("| No | Default 100, maximum 500. |", "| No | Default 100, maximum 200. |"),
    ("When over 100, 100 entries are returned.", "Nothing over 100."),
    ("Pagination; default value 1.", "Pagination; default value 0."),
    ("the value is a billId", "the value is an endId"),
    ("Older data before this tradeId.", "Older data before this endId."),
    ("The span from startTime to endTime must not exceed 90 days.", "The span must not exceed 30 days."),
    ("A range over 7 days returns an error.", "A range over 8 days returns an error."),
    ("startTime and endTime are both given or both empty.", "startTime may stand alone."),
    ("For a managed sub-account it cannot be earlier than the binding time.", "Whenever."),
    ("the range is the previous day 00:00 to 23:59", "the range is the last day 00:00 to 23:59"),
    ("| startTime | String | Yes | Unix ms. |", "| startTime | String | No | Unix ms. |"),
    ("executed, fail_execute, cancelled. When not given", "executed, cancelled. When not given"),
    ("live or partially_filled. When not given", "live, new or partially_filled. When not given"),
    ("convert (instant swap), c2c", "convert (instant swap), swap, c2c"),
    ("fait (fiat currency)", "fiat (fiat currency)"),
    ("system lock, user lock", "system lock"),
    ("rebate rewards, airdrop rewards", "rebate reward, airdrop rewards"),
    ("all (default), deposit, withdrawl", "all (default), deposit, withdrawal"),
    ("Open or Close. Required", "Open, Close or Both. Required"),
    (
        "Virtual sub-account alias, 8 English letters. |\n| passphrase",
        "Virtual alias, 9 English letters. |\n| passphrase",
    ),
    ("Sub-account note, length 20. |\n| ipList", "Sub-account note, length 30. |\n| ipList"),
    ("Remark, length below 20.", "Remark, length below 21."),
    ("at most 30 entries. |", "at most 20 entries. |"),
    ("| passphrase | String | Yes | 8 to 32 characters", "| passphrase | String | Yes | 6 to 32 characters"),
    ("futures trade, read-write), read (read permission)", "futures trade, read-write), look (read permission)"),
    ("| Elements per batch request (endpoint 2) | 5 |", "| Elements per batch request (endpoint 2) | 6 |"),
    ("| Sub-accounts per user (endpoint 2) | 20 |", "| Sub-accounts per user (endpoint 2) | 21 |"),
    ("90 days (3, 9, 11); 7 days (4)", "90 days (3, 9); 7 days (4, 11)"),
    ("default 20, max 100 (9)", "default 20, max 50 (9)"),
    ("Object with dataList (Array of convert records)", "Object with list (Array of convert records)"),
    ("| executeOrderId | String |", "| executedOrderId | String |"),
    ("| unionMm | String | Maintenance margin. |\n", ""),
    ("| toCoin | String | Target coin. |", "| toCoin | String | Target coin. |\n| rate | String | Rate. |"),
    ("maker. |\n| feeDetail | Object", "maker, both. |\n| feeDetail | Object"),
    ("totalDeductionFee (String, total fee discount)", "totalDeduction (String, total fee discount)"),
    ("balance (String), available (String", "balance (String), free (String"),
    ("dte_sys_adl_close_long, dte_sys_adl_close_short,", "dte_sys_adl_close_long,"),
    ("pos_loss_limit, pos_loss_market", "pos_loss_limit, pos_loss_market, move_limit"),
    ("| SUSDC-FUTURES |", "| TUSDC-FUTURES |"),
    ("| ACCESS-PASSPHRASE |", "| ACCESS-PHRASE |"),
    ("| requestTime | Integer |", "| serverTime | Integer |"),
    ("### 7. Get account list", "### 14. Get account list"),
]


@pytest.mark.parametrize(("written", "instead"), CHANGES, ids=[instead[:40] for _, instead in CHANGES])
def test_a_changed_document_is_noticed(interface_text: str, written: str, instead: str) -> None:
    assert written in interface_text
    assert list(differences(parse(interface_text.replace(written, instead, 1)))) != []
