"""The tables of the reversal dialog, drawn for the worked account: every word, figure and column."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from textual.content import Content

from tests.trading.test_orders_after_reversal import order, stop
from tests.trading.test_reversal import legs, plan
from tests.trading.test_reversal_actuals import actual
from tests.trading.test_reversal_estimates import BASIS, SHORT, STOPS, account, leg
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.preview import Preview, Target, changes
from tradetui.desk.reversal.progress import Aftermath, Progress
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.trading.estimates.cost_estimates import Basis
from tradetui.trading.estimates.reversal_actuals import ReversalActuals
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.orders_after_reversal import resting_after
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.lines import decision_lines, details_lines, outcome_lines, request_lines
from tradetui.ui.intents.reversal.tables.table_rows import Figures, Room
from tradetui.wire.models.futures import PendingOrder
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

WIDE, NARROW = Room(109, 36), Room(75, 24)
CONTRACT = Contract.from_row(
    {
        "symbol": "BTCUSDT",
        "takerFeeRate": "0.0006",
        "baseCoin": "BTC",
        "quoteCoin": "USDT",
        "pricePlace": "1",
        "volumePlace": "4",
    }
)


def resting_order(side: str, size: str, price: str, done: str = "0") -> PendingOrder:
    return order(side, "open", size=size, done=done).model_copy(update={"price": Decimal(price), "order_id": price})


ORDERS = [resting_order("buy", "0.1186", "81768.4"), resting_order("sell", "0.0452", "86568.4", "0.0113")]


def preview(reversal: ReversalPlan = SHORT, basis: Basis = BASIS, **more: Any) -> Preview:
    basis = replace(basis, contract=CONTRACT)
    stops = more.pop("stops", STOPS)
    orders = more.pop("orders", ORDERS)
    values: dict[str, Any] = {
        "target": Target("BTCUSDT"),
        "plan": reversal,
        "mode": reversal.params.mode,
        "mode_from": "the positions",
        "position": basis.position,
        "positions": tuple(leg for leg in (basis.position, basis.other_leg) if leg is not None),
        "basis": basis,
        "orders": tuple(orders),
        "stops": None if stops is None else tuple(stops),
        "requested_at": 0.0,
        "read_at": 0.0,
        "contract": CONTRACT,
    }
    return Preview(**{**values, **more})


def drawn(shown: Preview, room: Room = WIDE, looked_at: Preview | None = None) -> list[str]:
    changed = changes(looked_at, shown) if looked_at is not None else ()
    return [row.plain.rstrip() for row in decision_lines(shown, changed, room)]


def test_the_worked_account_is_drawn_as_a_trader_asks() -> None:
    assert drawn(preview()) == [
        "REVERSE THE SHORT OF BTCUSDT",
        "All of it, at the market: buy 0.2934 to close the SHORT, buy 0.2934 more to go LONG.",
        "",
        "                now      change   afterwards        entry     value USDT",
        "LONG         0.1214     +0.2934       0.4148    ~84,945.0      34,924.92   entry was 86,752.4",
        "SHORT        0.2934     -0.2934            0            —           0.00   entry was 86,470.6",
        "net         -0.1720     +0.5868      +0.4148                  +34,924.92   was -14,481.88",
        "",
        "                                  now        afterwards   at the ask, 84,197.1",
        "Profit taken                                   ~+667.04   closes the SHORT 2,273.5 below its entry",
        "Fees                                            ~-29.64   taker 0.06 % of 49,406.86 USDT, both trades",
        "Free margin USDT             4,783.20         ~4,753.49   enough: needs 2,470.34, closing frees as much first",
        "Margin ratio                   4.96 %           ~5.19 %   liquidation at 100 %",
        "Liquidation BTCUSDT         183,225.8           ~42,860   117.62 % above, then ~49.1 % below, all else equal",
        "If stopped at 82,500.0        -516.24        ~-1,014.17   the LONG's whole result should its stop fill there",
        "",
        "Orders, stops                                        away   afterwards",
        "order         sell 0.0452 at 86,568.4, 25 % done  +2.82 %   OPENS A SHORT against the LONG  !",
        "order         buy 0.1186 at 81,768.4              -2.88 %   adds to the LONG",
        "stop-loss     whole LONG at 82,500.0              -2.02 %   stays, for 0.4148 instead of 0.1214",
        "stop-loss     whole SHORT at 87,900.0             +4.40 %   cancelled with the SHORT (assumed)",
        "take-profit   whole LONG at 91,500.0              +8.67 %   stays, for 0.4148 instead of 0.1214",
        "",
        "Assumed   Two market orders: the price may move in between; without enough margin less is opened, or nothing.",
        "          The exchange may cancel resting orders first. Estimates (~) hold while all other prices stand.",
    ]


def test_a_low_window_has_the_worst_before_the_costs_and_no_line_to_spare() -> None:
    rows = drawn(preview(basis=replace(BASIS, account=account(crossedMaxAvailable="0"))), NARROW)
    assert "" not in rows
    assert rows[6] == "Not enough margin: the exchange may open less, or nothing."
    assert rows[7] == "sell 0.0452 at 86,568.4: OPENS A SHORT against the LONG  !"
    assert rows[8].startswith("at the ask, 84,197.1")
    assert max(map(len, rows[2:6])) <= NARROW.width


@pytest.mark.parametrize(
    ("before", "now", "marked"),
    [
        (Net(Decimal("-0.2934")), Net(Decimal("0.2934")), "held was SHORT 0.2934"),
        (legs("0.1214", "0.2934"), Net(Decimal("-0.2934")), "held was LONG 0.1214 and SHORT 0.2934"),
        (Net(Decimal("-0.2934")), legs("0.1214", "0.2934"), "held was SHORT 0.2934"),
    ],
)
def test_a_position_that_turned_or_another_mode_is_marked_and_said(
    before: Holdings, now: Holdings, marked: str
) -> None:
    looked_at, shown = (preview(plan(held, "sell" if isinstance(held, Legs) else None)) for held in (before, now))
    assert any(
        str(change).startswith(f"held {marked.removeprefix('held was ')} → ") for change in changes(looked_at, shown)
    )
    assert [row for row in drawn(shown, looked_at=looked_at) if row.endswith(f" ◂ {marked}")]


def test_what_has_changed_is_marked_in_its_row() -> None:
    before = preview(plan(legs("0.1214", "0.25"), "sell"), orders=ORDERS[:1])
    rows = drawn(preview(), looked_at=before)
    assert rows[5].endswith(" ◂ size was 0.2500")
    assert rows[6].endswith(" ◂ net was -0.1286")
    assert rows[10].endswith("taker 0.06 % of 49,406.86 USDT ◂ was 42,098.55"), "the figure beside its mark"
    assert rows[17].endswith(" ◂ new")
    gone = drawn(preview(orders=[]), looked_at=preview())
    assert "gone          buy 0.1186 at 81,768.4" in gone


def test_a_note_makes_room_for_the_mark_of_its_row_and_moves_no_line() -> None:
    before, now = preview(plan(legs("0.1214", "0.25"), "sell")), preview()
    for width in range(98, 130):
        room = Room(width, 36)
        fees = [row for row in drawn(now, room, looked_at=before) if row.startswith("Fees")]
        assert [row.partition(" ◂ ")[2] for row in fees] == ["was 42,098.55"]
        assert "taker" not in " ".join(drawn(now, room, looked_at=before)).replace(fees[0], "")


def test_what_asks_for_attention_has_another_colour_than_a_loss() -> None:
    off = Aftermath(actuals=replace(actual(), fees=Decimal("-49.41")))
    progress = Progress(
        State.SETTLED, SearchStage.ENDED, "x", held=Legs(Decimal("0.1")), outcome=Outcome.SMALLER, aftermath=off
    )
    before = preview(plan(legs("0.1214", "0.25"), "sell"))
    drawn_lines = [
        *outcome_lines(preview(), SHORT, progress, WIDE),
        *decision_lines(preview(), changes(before, preview()), WIDE),
    ]
    styles = {str(span.style) for line in drawn_lines for span in line.spans}
    assert "bold $warn" in styles
    assert not any(tone in style for style in styles for tone in ("$error", "$success"))


def test_a_mark_that_does_not_fit_behind_its_row_stands_whole_below_it() -> None:
    before = preview(plan(legs("0.1214", "0.25"), "sell"))
    rows = drawn(preview(), NARROW, looked_at=before)
    assert rows[rows.index(next(row for row in rows if row.startswith("SHORT"))) + 1] == " ◂ size was 0.2500"


def test_one_way_mode_has_one_row_and_an_uncertain_result_a_second_one() -> None:
    net = replace(BASIS, other_leg=None)
    whole = drawn(preview(plan(Net(Decimal("-0.2934"))), net, stops=[], orders=[]))
    assert whole[4] == "net         -0.2934     +0.5868      +0.2934    ~84,197.1     +24,703.40   entry was 86,470.6"
    assert "Orders, stops" not in " ".join(whole)
    part = drawn(preview(plan(Net(Decimal("-0.2934")), size="0.1"), net, stops=[], orders=[]))
    assert part[4].startswith("net         -0.2934     +0.2000      -0.0934     86,470.6")
    assert part[5].startswith("or          -0.2934     +0.5868      +0.2934    ~84,197.1")
    assert part[6] == "One of these two results; the outcome says which."
    assert part[8].endswith(" · the larger result")


def test_in_one_way_mode_each_size_has_the_colour_of_its_side() -> None:
    turned = plan(Net(Decimal("-0.2934")))
    shown = preview(turned, replace(BASIS, other_leg=None), stops=[], orders=[])
    progress = Progress(State.SETTLED, SearchStage.ENDED, "x", held=Net(Decimal("0.2934")), outcome=Outcome.REVERSED)
    for row in (list(decision_lines(shown, (), WIDE))[4], list(outcome_lines(shown, turned, progress, WIDE))[3]):
        styles = {row.plain[span.start : span.end].strip(): str(span.style) for span in row.spans}
        assert (styles["-0.2934"], styles["+0.5868"], styles["+0.2934"]) == ("bold $short", "bold", "bold $long")


def test_amounts_of_a_coin_margined_contract_name_their_coin() -> None:
    assert Figures(None, "BTC").money_title("Fees") == "Fees BTC"
    assert Figures(None, "USDT").money_title("Fees") == "Fees", "beside amounts in dollars"


def test_what_is_traded_in_dollars_has_two_decimals_in_the_details() -> None:
    settings = DeskSettings(name="t", environment=Environment.SANDBOX, product_types=(ProductType.USDT_FUTURES,))
    rows = [line.plain for line in details_lines(preview(), settings, (), 109)]
    assert any(row.startswith("notional          49,406.86 USDT: ") for row in rows)


@pytest.mark.parametrize(
    ("stops", "row"),
    [
        (None, f"{'If stopped':<36}?                 ?   waiting stops cannot be read: check them yourself"),
        ([], "If stopped                    no stop           no stop   none for the LONG"),
        (
            [stop("moving_plan", "sell", "close")],
            "If stopped                   trailing           no stop   none for the LONG",
        ),
        (
            STOPS[2:],
            "If stopped                    -419.39           no stop   none for the LONG; 87,900.0 goes with the SHORT",
        ),
    ],
)
def test_a_missing_stop_is_a_warning(stops: list[Any] | None, row: str) -> None:
    assert row in drawn(preview(stops=stops))


@pytest.mark.parametrize(
    ("stops", "note"),
    [
        ([], "the LONG's whole result; only its position reports this stop"),
        (None, "the LONG's stop as its position reports it; other stops cannot be read: check them yourself"),
    ],
)
def test_a_stop_that_only_the_position_names_is_said_to_be_so(stops: list[Any] | None, note: str) -> None:
    long = leg("long", "0.1214", "86752.4", stopLoss="82500")
    text = " ".join(drawn(preview(basis=replace(BASIS, other_leg=long), stops=stops)))
    assert "If stopped at 82,500.0        -516.24        ~-1,014.17" in text
    assert note in text and "no stop" not in text


@pytest.mark.parametrize(
    ("trailing", "row"),
    [
        (
            ["0"],
            "If stopped                    no stop          trailing   a trailing stop's price moves: not estimable",
        ),
        (
            ["0.3", "0.2"],
            "If stopped                    no stop          trailing   a trailing stop's price moves: not estimable",
        ),
        (["0.2"], "If stopped                    no stop          trailing"),
    ],
)
def test_a_trailing_stop_is_a_stop_whose_result_is_not_estimable(trailing: list[str], row: str) -> None:
    ids = map(str, range(len(trailing)))
    stops = [
        stop("moving_plan", "buy", "close", size=size, order_id=id_) for size, id_ in zip(trailing, ids, strict=True)
    ]
    shown = preview(stops=stops)
    rows = drawn(shown)
    assert row in rows
    assert not any("none for the" in line for line in rows)
    assert shown.estimates is not None
    assert "a trailing stop waits for" in shown.estimates.rows()[-1].basis


@pytest.mark.parametrize("room", [WIDE, NARROW])
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("moving_plan", "for 0.2000 of the LONG, its price moves: not estimable"),
        ("loss_plan", "0.2000 of the LONG, should its stop fill there"),
    ],
)
def test_a_stop_for_a_part_says_for_which(kind: str, part: str, room: Room) -> None:
    shown = preview(stops=[stop(kind, "buy", "close", size="0.2", price="82500")])
    assert any(row.endswith(part) for row in drawn(shown, room))
    assert shown.estimates is not None
    assert "0.2 of the LONG" in shown.estimates.rows()[-1].basis


def test_a_stop_of_the_side_that_ends_is_none_for_the_new_side_and_one_of_the_new_side_is() -> None:
    short = [stop("moving_plan", "sell", "close")]
    assert any("none for the LONG" in row for row in drawn(preview(stops=short)))
    one_way, basis = plan(Net(Decimal("-0.2934"))), replace(BASIS, other_leg=None)
    assert any("none for the LONG" in row for row in drawn(preview(one_way, basis, stops=[stop("pos_loss", "buy")])))
    rows = drawn(preview(one_way, basis, stops=[stop("pos_loss", "sell", price="82500")]))
    assert any(row.startswith("If stopped at 82,500.0") and "the LONG's whole result" in row for row in rows)
    trailing = drawn(preview(one_way, basis, stops=[stop("moving_plan", "sell")]))
    assert any(row.startswith("If stopped ") and "trailing" in row for row in trailing)


def test_many_orders_that_stay_as_they_are_become_one_row() -> None:
    many = [resting_order("buy", "0.01", str(80000 + step)) for step in range(9)]
    rows = drawn(preview(orders=[*many, ORDERS[1]], stops=[]))
    assert "6 more stay as they are" in rows
    assert any("OPENS A SHORT" in row for row in rows)
    assert len([row for row in rows if row.startswith("order ")]) == 4


def test_many_orders_alike_become_the_nearest_and_the_furthest() -> None:
    rows = drawn(preview(orders=[resting_order("sell", "0.01", str(87000 + step)) for step in range(300)], stops=[]))
    second = next(at for at, row in enumerate(rows) if "at 87,001.0" in row)
    assert rows[second + 1].strip() == "298 more like it, the furthest at 87,299.0"
    assert len([row for row in rows if row.startswith("order ")]) == 2, "the nearest has an effect of its own"


def test_the_request_is_shown_exactly_as_it_is_sent() -> None:
    rows = [row.plain for row in request_lines(preview(), ())]
    assert "size              0.2934, the whole position" in rows
    assert "side              sell = the short leg" in rows


@pytest.mark.parametrize(
    ("held", "outcome", "different"),
    [
        (Legs(Decimal("0.4148")), Outcome.REVERSED, []),
        (Legs(Decimal("0.1214")), Outcome.CLOSED_ONLY, ["LONG", "net"]),
        (Legs(Decimal("0.3"), Decimal("0.1")), Outcome.SMALLER, ["LONG", "SHORT", "net"]),
        (None, Outcome.MODE_CHANGED, ["LONG", "SHORT", "net"]),
    ],
)
def test_the_outcome_is_the_table_with_what_is_held_and_marks_what_differs(
    held: Holdings | None, outcome: Outcome, different: list[str]
) -> None:
    progress = Progress(State.SETTLED, SearchStage.ENDED, "an end", held=held, outcome=outcome)
    rows = [row.plain.rstrip() for row in outcome_lines(preview(), SHORT, progress, WIDE)]
    assert rows[3 if different else 2] == "             before      change   afterwards         held"
    assert [row.split()[0] for row in rows if row.endswith("DIFFERENT")] == different
    if not different:
        assert rows[3] == "LONG         0.1214     +0.2934       0.4148       0.4148"
    assert (rows[1] == "This differs from the preview. Check the position now.") == bool(different)


def test_in_one_way_mode_the_result_that_came_true_is_not_different() -> None:
    part = plan(Net(Decimal("-0.2934")), size="0.1")
    shown = preview(part, replace(BASIS, other_leg=None))
    progress = Progress(
        State.SETTLED,
        SearchStage.ENDED,
        "an end",
        held=Net(Decimal("0.2934")),
        outcome=Outcome.REVERSED,
        came_true="ignored",
    )
    rows = [row.plain.rstrip() for row in outcome_lines(shown, part, progress, WIDE)]
    assert not any(row.endswith("DIFFERENT") for row in rows)
    assert "Result: ignored." in rows


def outcome_rows(aftermath: Aftermath, room: Room = WIDE) -> list[str]:
    held = Legs(Decimal("0.4148"))
    progress = Progress(
        State.SETTLED, SearchStage.ENDED, "an end", held=held, outcome=Outcome.REVERSED, aftermath=aftermath
    )
    return [row.plain.rstrip() for row in outcome_lines(preview(), SHORT, progress, room)]


def test_the_outcome_has_the_risks_with_what_was_read_and_marks_what_is_off() -> None:
    resting = resting_after(SHORT, ORDERS, STOPS[:2], Legs(Decimal("0.4148")))
    rows = outcome_rows(Aftermath(resting=resting, actuals=replace(actual(), fees=Decimal("-49.41"))))
    assert rows[7:14] == [
        "                             before    afterwards       actual",
        "Profit taken                             ~+667.04      +667.04",
        "Fees                                      ~-29.64       -49.41   DIFFERENT",
        "Free margin USDT           4,783.20     ~4,753.49     4,753.10",
        "Margin ratio                 4.96 %       ~5.19 %       5.21 %",
        "Liquidation BTCUSDT       183,225.8       ~42,860     42,900.0",
        "If stopped at 82,500.0      -516.24    ~-1,014.17    -1,014.19",
    ]
    trails = outcome_rows(Aftermath(resting=resting, actuals=ReversalActuals(stops_read=True, trails=True)))
    assert any(row.startswith("If stopped") and row.endswith("trailing   DIFFERENT") for row in trails)


@pytest.mark.parametrize("room", [WIDE, NARROW])
def test_an_assumption_that_failed_stands_first_and_what_came_as_assumed_is_no_difference(room: Room) -> None:
    short_stop = stop("pos_loss", "sell", "close", price="87900", order_id="3")
    shown = preview(orders=ORDERS, stops=[short_stop, STOPS[0]])
    held = Legs(Decimal("0.4148"))

    def outcome(orders: list[Any], stops: list[Any], **aftermath: Any) -> list[Content]:
        resting = resting_after(SHORT, orders, stops, held)
        end = Progress(State.SETTLED, SearchStage.ENDED, "reversed", held=held, outcome=Outcome.REVERSED)
        return list(outcome_lines(shown, SHORT, replace(end, aftermath=Aftermath(resting=resting, **aftermath)), room))

    rows = outcome(ORDERS[1:], [short_stop])
    texts = [row.plain.rstrip() for row in rows]
    assert texts[:2] == ["Settled: reversed", "Orders differ from the preview. Check them now."]
    table = " ".join(" ".join(texts[3 : texts.index("", 3)]).split())
    assert "order buy 0.1186 at 81,768.4 -2.88 % DIFFERENT: no longer waiting" in table
    assert "stop-loss whole LONG at 82,500.0 -2.02 % DIFFERENT: no longer waiting" in table
    assert "stop-loss whole SHORT at 87,900.0 +4.40 % DIFFERENT: still waiting, has no SHORT left to close" in table
    assert all("bold $warn" in str(row.spans) for row in rows[3 : texts.index("", 3)])
    assert max(map(len, texts[3:])) <= room.width
    as_assumed = [row.plain for row in outcome(ORDERS, [STOPS[0]])]
    unread = [row.plain for row in outcome([], [], orders_are_whole=False, stops_are_whole=False)]
    assert not any("differ" in row.lower() for row in [*as_assumed, *unread])


def test_a_narrow_outcome_keeps_its_marks_and_what_could_not_be_read_is_said() -> None:
    off = ReversalActuals(fees=Decimal("-49.41"))
    rows = outcome_rows(Aftermath(actuals=off, unread="the link is down"), NARROW)
    assert any(row.startswith("Fees") and row.endswith("-49.41   DIFFERENT") for row in rows)
    assert max(map(len, rows[3:13])) <= NARROW.width
    assert rows[-1] == "Orders, stops and account could not be read: the link is down"
    assert [row.split()[-1] for row in rows if row.startswith(("Profit", "Free", "Liqu", "If"))] == ["—", "—", "—", "?"]


def test_of_two_possible_results_the_smaller_one_is_not_held_against_the_estimates_of_the_larger() -> None:
    part = plan(Net(Decimal("-0.2934")), size="0.1")
    shown = preview(part, replace(BASIS, other_leg=None))
    off = Aftermath(actuals=ReversalActuals(fees=Decimal("-10")))
    for held, marks in ((Net(Decimal("-0.0934")), 0), (Net(Decimal("0.2934")), 1)):
        progress = Progress(
            State.SETTLED, SearchStage.ENDED, "an end", held=held, outcome=Outcome.REVERSED, aftermath=off
        )
        rows = [row.plain for row in outcome_lines(shown, part, progress, WIDE)]
        assert sum(row.endswith("DIFFERENT") for row in rows) == marks
        assert any("of the larger result" in row for row in rows) == (not marks)


def test_what_is_too_long_for_the_details_goes_on_under_itself() -> None:
    settings = DeskSettings(name="t", environment=Environment.SANDBOX, product_types=(ProductType.USDT_FUTURES,))
    lines = [row for line in details_lines(preview(), settings, (), 60) for row in line.plain.split("\n")]
    assert max(map(len, lines)) <= 60
    read = next(index for index, row in enumerate(lines) if row.startswith("read "))
    assert lines[read + 1].startswith(" " * 18) and lines[read + 1].strip()
