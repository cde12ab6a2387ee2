"""Filter forms: what the texts mean, and each rule's own sentence at its field."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any

import pytest

from tradetui.desk.lookup.query import Stretch, check_query, filter_fields
from tradetui.desk.tables.table import LOOKUPS
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS

NOW = 1_790_000_000_000
EAST = timezone(timedelta(hours=12), "NZST")
FIELDS = {
    "spot-fills": ["symbol", "orderId", "startTime", "endTime"],
    "spot-bills": ["coin", "groupType", "businessType", "startTime", "endTime"],
    "convert": ["startTime", "endTime"],
    "transfers": ["startTime", "endTime", "type"],
    "email": ["subUid"],
}


@pytest.mark.parametrize("table", LOOKUPS)
def test_a_form_has_every_parameter_of_the_interface_but_those_of_paging(table: str) -> None:
    endpoint = LOOKUPS[table].endpoint
    assert [field.name for field in filter_fields(endpoint)] == FIELDS[table]
    named = {parameter.name for parameter in endpoint.request.parameters.values()}
    assert named - set(FIELDS[table]) <= {"limit", "idLessThan"}


def test_only_what_nothing_stands_in_for_must_be_given() -> None:
    must = {field.name for kind in LOOKUPS.values() for field in filter_fields(kind.endpoint) if field.required}
    assert must == {"subUid"}


def test_a_withdrawal_is_spelt_in_the_form_as_everybody_spells_it_and_sent_as_the_interface_does() -> None:
    endpoint = LOOKUPS["transfers"].endpoint
    choices = {field.name: field.choices for field in filter_fields(endpoint)}
    assert choices["type"] == ("all", "deposit", "withdrawal")
    for word in ("withdrawal", "withdrawl"):
        query = check_query(endpoint, {"type": word}, NOW).query
        assert query is not None
        assert (query.texts["type"], dict(query.request.query())["type"]) == ("withdrawal", "withdrawl")
    assert "withdrawl" not in problems("transfers", type="gift")["type"]


@pytest.mark.parametrize("zone", [UTC, EAST])
def test_a_refusal_quotes_a_time_as_it_was_typed(zone: tzinfo) -> None:
    for typed in ("2026-06-13 14:13:20 UTC", "2026-06-13T14:13:20Z", "2026-06-13"):
        refused = check_query(LOOKUPS["spot-fills"].endpoint, {"endTime": typed}, NOW, zone).problems["endTime"]
        assert refused.startswith(f"endTime: within the last 90 days; given: {typed}.")
    span = check_query(LOOKUPS["spot-fills"].endpoint, {"endTime": "100d"}, NOW, EAST).problems["endTime"]
    assert "; given: 2026-06-14 02:13:20 NZST." in span, "what it comes to says more"


def problems(table: str, **texts: str) -> dict[str, str]:
    return dict(check_query(LOOKUPS[table].endpoint, texts, NOW).problems)


@pytest.mark.parametrize(
    ("table", "texts", "field", "rule"),
    [
        ("spot-bills", {"groupType": "gift"}, "groupType", "one of the billing types"),
        ("spot-bills", {"businessType": "gift"}, "businessType", "one of the business types"),
        ("spot-bills", {"startTime": "91d"}, "endTime", "at most 90 days after startTime"),
        ("spot-fills", {"startTime": "1d", "endTime": "2d"}, "startTime", "not after endTime"),
        ("spot-fills", {"startTime": "soon"}, "startTime", "must be a day, a month, a time, or a span"),
        ("spot-fills", {"endTime": "2099-01-01"}, "endTime", "not be after today"),
        ("convert", {"startTime": "120d", "endTime": "1d"}, "endTime", "at most 90 days"),
        ("transfers", {"startTime": "2d"}, "endTime", "both given or both empty"),
        ("transfers", {"endTime": "2d"}, "startTime", "both given or both empty"),
        ("transfers", {"startTime": "91d", "endTime": "1d"}, "startTime", "within the last 90 days"),
        ("transfers", {"startTime": "100d", "endTime": "95d"}, "startTime", "within the last 90 days"),
        ("spot-fills", {"endTime": "95d"}, "endTime", "within the last 90 days"),
        ("transfers", {"startTime": "1d", "endTime": "20d"}, "startTime", "not after endTime"),
        ("transfers", {"type": "gift"}, "type", "all, deposit or withdrawal"),
        ("email", {}, "subUid", "required"),
    ],
)
def test_a_broken_rule_is_told_at_its_field(table: str, texts: dict[str, str], field: str, rule: str) -> None:
    if table == "spot-bills" and texts == {"startTime": "91d"}:
        texts = texts | {"endTime": "0d"}
    refused = problems(table, **texts)
    assert list(refused) == [field]
    assert rule in refused[field]


def test_a_time_nobody_tells_anything_of_is_named_as_a_date() -> None:
    assert problems("transfers", startTime="100d", endTime="95d") == {
        "startTime": "startTime: within the last 90 days; given: 2026-06-13 14:13:20 UTC. "
        "Begin later: 90d is the earliest there is."
    }


def test_the_sentence_is_the_requests_own() -> None:
    request: type[Any] = LOOKUPS["spot-bills"].endpoint.request
    with pytest.raises(InvalidRequest) as refused:
        request(coin="USDT", groupType="gift")
    assert problems("spot-bills", coin="USDT", groupType="gift") == {"groupType": str(refused.value)}


def test_every_field_that_is_wrong_by_itself_is_told() -> None:
    assert problems("spot-bills", groupType="x", businessType="y", startTime="z").keys() == {
        "groupType",
        "businessType",
        "startTime",
    }


@pytest.mark.parametrize(
    "text",
    ["999999999999999999", "99999999999999999999", "9" * 5000, "9" * 5000 + "d", "0001-01-01", "9999-12-31T23:59"],
)
@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))])
def test_times_from_the_edge_of_the_calendar_are_told_and_not_stumbled_over(text: str, zone: timezone) -> None:
    for table in ("spot-fills", "convert", "transfers"):
        result = check_query(LOOKUPS[table].endpoint, {"startTime": text, "endTime": text}, NOW, zone)
        assert result.query is None
        assert result.problems.keys() == {"startTime", "endTime"}


def test_rules_that_join_fields_are_told_beside_those_of_one() -> None:
    refused = problems("spot-bills", groupType="x", startTime="100d", endTime="0d")
    assert refused.keys() == {"groupType", "endTime"}
    assert "at most 90 days" in refused["endTime"]


def test_what_is_read_when_nobody_says_a_time() -> None:
    def stretch(table: str) -> Stretch:
        query = check_query(LOOKUPS[table].endpoint, {}, NOW).query
        assert query is not None
        return query.stretch

    midnight = NOW - NOW % DAY_MS
    assert stretch("spot-fills") == Stretch(NOW - 90 * DAY_MS, NOW, True)
    assert stretch("spot-bills") == Stretch(None, NOW, True)
    assert stretch("convert") == Stretch(NOW - 90 * DAY_MS, NOW, True)
    assert stretch("transfers") == Stretch(midnight - DAY_MS, midnight - 1, True)


@pytest.mark.parametrize(("days", "pieces"), [(1, 1), (7, 1), (8, 2), (14, 2), (15, 3), (90, 13)])
def test_a_longer_range_of_transfers_is_cut(days: int, pieces: int) -> None:
    query = check_query(LOOKUPS["transfers"].endpoint, {"startTime": f"{days}d", "endTime": "0d"}, NOW).query
    assert query is not None
    assert (query.pieces, query.sent) == (pieces, True)
    assert query.stretch == Stretch(NOW - days * DAY_MS, NOW, False)


def test_times_without_a_zone_are_in_the_one_of_the_screen() -> None:
    tokyo = timezone(timedelta(hours=9))
    texts = {"startTime": "2026-09-21T09:00", "endTime": "2026-09-21T01:00Z"}
    query = check_query(LOOKUPS["spot-fills"].endpoint, texts, NOW, tokyo).query
    assert query is not None
    assert query.stretch.end_ms is not None
    assert query.stretch.start_ms == query.stretch.end_ms - 3_600_000


def test_a_query_means_the_same_when_its_texts_are_read_again_in_another_zone() -> None:
    endpoint, tokyo = LOOKUPS["spot-fills"].endpoint, timezone(timedelta(hours=9))
    first = check_query(endpoint, {"startTime": "2026-09-20T09:30", "endTime": "1789999000123"}, NOW, tokyo).query
    assert first is not None
    again = check_query(endpoint, first.texts, NOW, UTC).query
    assert again is not None
    assert again.stretch == first.stretch
    ago = check_query(endpoint, {"startTime": "7d"}, NOW, tokyo).query
    assert ago is not None
    assert ago.texts == {"startTime": "7d"}
    spoken = check_query(endpoint, {"startTime": "7d ago"}, NOW, tokyo).query
    assert spoken is not None
    assert (spoken.stretch, spoken.texts) == (ago.stretch, {"startTime": "7d ago"})
    later = check_query(endpoint, ago.texts, NOW + DAY_MS, UTC).query
    assert later is not None
    assert later.stretch.start_ms == NOW - 6 * DAY_MS


def test_the_largest_pages_are_asked_for() -> None:
    for kind in LOOKUPS.values():
        query = check_query(kind.endpoint, {"subUid": "1"} if kind.name == "email" else {}, NOW).query
        assert query is not None
        rule = kind.endpoint.page
        assert getattr(query.request, "limit", None) == (rule.maximum if rule is not None else None)
