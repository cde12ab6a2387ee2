"""What each word of a fill's terms says that it did, in either position mode and where the mode is not told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.trading.position_fills import fill
from tradetui.trading.positions_from_fills import leg_of
from tradetui.trading.results.booking import fill_meaning
from tradetui.trading.trade_effect import TradeAction, effect_of_fill
from tradetui.wire.enums import PositionMode, PositionSide, TradeSide
from tradetui.wire.models.futures import FuturesFill

CASES = """
                                      done by      mode not told  one-way mode  hedge mode
open                                  order        +L  +S         b   s         +L  +S
close                                 order        -L  -S         b   s         -L  -S
reduce_close_long                     reduces      -L  -L         -b  -s        -L  -L
reduce_close_short                    reduces      -S  -S         -b  -s        -S  -S
offset_close_long                     offset       -L  -L         -b  -s        -L  -L
offset_close_short                    offset       -S  -S         -b  -s        -S  -S
burst_close_long                      liquidation  -L  -L         -b  -s        -L  -L
burst_close_short                     liquidation  -S  -S         -b  -s        -S  -S
delivery_close_long                   delivery     -L  -L         -b  -s        -L  -L
delivery_close_short                  delivery     -S  -S         -b  -s        -S  -S
dte_sys_adl_close_long                ADL          -L  -L         -b  -s        -L  -L
dte_sys_adl_close_short               ADL          -S  -S         -b  -s        -S  -S
buy_single                            order        b   s          b   s         ?   ?
sell_single                           order        b   s          b   s         ?   ?
reduce_buy_single                     reduces      -b  -s         -b  -s        ?   ?
reduce_sell_single                    reduces      -b  -s         -b  -s        ?   ?
burst_buy_single                      liquidation  -b  -s         -b  -s        ?   ?
burst_sell_single                     liquidation  -b  -s         -b  -s        ?   ?
delivery_buy_single                   delivery     -b  -s         -b  -s        ?   ?
delivery_sell_single                  delivery     -b  -s         -b  -s        ?   ?
dte_sys_adl_buy_in_single_side_mode   ADL          -b  -s         -b  -s        ?   ?
dte_sys_adl_sell_in_single_side_mode  ADL          -b  -s         -b  -s        ?   ?
-                                     order        ?   ?          b   s         ?   ?
sideways                              order        ?   ?          b   s         ?   ?
sideways_single                       order        b   s          b   s         ?   ?
burst_sideways                        liquidation  ?   ?          b   s         ?   ?
"""
"""Each mode has two columns: with the side buy, and sell. `+L` opens the LONG and `-S` closes the SHORT of hedge mode;
`b` buys and `s` sells, which closes or opens as what is held makes it; `-b` and `-s` close by buying and selling; `?`
is not known. Words nobody knows stand below those of the interface."""
MODES = ("", PositionMode.ONE_WAY, PositionMode.HEDGE)


def cases() -> Iterator[tuple[str, str, str, str, str]]:
    """The trade side, the position mode, the side, and what is done by whom."""
    for line in CASES.strip().splitlines()[1:]:
        trade_side, cause, *effects = line.split()
        for column, effect in enumerate(effects):
            side = "sell" if column % 2 else "buy"
            yield trade_side.replace("-", ""), MODES[column // 2], side, effect, cause


ALL_CASES = tuple(cases())
SYSTEM_WORDS_OF_HEDGE_MODE = {word for word in TradeSide if word.endswith(("_close_long", "_close_short"))}


def in_ledger(received: FuturesFill) -> str:
    meaning = fill_meaning(received.side, received.trade_side, received.pos_mode)
    if not meaning.known:
        return "?"
    if meaning.leg is PositionSide.NET:
        return f"{'-' if meaning.opens is False else ''}{'b' if meaning.buys else 's'}"
    return f"{'+' if meaning.opens else '-'}{meaning.leg[0].upper()}"


def in_positions(received: FuturesFill) -> str:
    if received.unknown_word:
        return "?"
    if received.position_mode is PositionMode.ONE_WAY:
        return "b" if received.is_buy else "s"
    leg, opens = leg_of(received)
    return f"{'+' if opens else '-'}{leg[0].upper()}"


def in_tables(received: FuturesFill) -> str:
    effect = effect_of_fill(received)
    if effect is None:
        return "?"
    if effect.leg is None:
        return "b" if effect.buys else "s"
    if received.position_mode is PositionMode.ONE_WAY:
        return "-b" if effect.buys else "-s"
    return f"{'+' if effect.action is TradeAction.OPEN else '-'}{effect.leg[0].upper()}"


def test_every_word_of_the_interface_is_a_case() -> None:
    assert {trade_side for trade_side, *_ in ALL_CASES} > set(TradeSide)


@pytest.mark.parametrize(("trade_side", "mode", "side", "effect", "cause"), ALL_CASES)
def test_the_ledger_reads_it_so(trade_side: str, mode: str, side: str, effect: str, cause: str) -> None:
    received = fill(side, trade_side, "1", mode=mode)
    assert in_ledger(received) == effect
    forced_by = fill_meaning(received.side, received.trade_side, received.pos_mode).forced_by
    assert (forced_by or "order") == cause.replace("reduces", "order")


@pytest.mark.parametrize(("trade_side", "mode", "side", "effect", "cause"), ALL_CASES)
def test_positions_read_it_so(trade_side: str, mode: str, side: str, effect: str, cause: str) -> None:
    received = fill(side, trade_side, "1", mode=mode)
    # A close of one-way mode is not told from an order that may open.
    assert in_positions(received) == (effect.replace("-b", "b").replace("-s", "s"))
    # No mode is taken from a word of hedge mode, as it is in the ledger.
    assert (received.position_mode is None) == (mode == "" and "single" not in trade_side)


@pytest.mark.parametrize(("trade_side", "mode", "side", "effect", "cause"), ALL_CASES)
def test_tables_read_it_so(trade_side: str, mode: str, side: str, effect: str, cause: str) -> None:
    if mode == PositionMode.ONE_WAY and trade_side in SYSTEM_WORDS_OF_HEDGE_MODE:
        effect = effect.replace("-", "")
    if not mode and trade_side == "sideways_single":
        effect = "?"
    assert in_tables(fill(side, trade_side, "1", mode=mode)) == effect


@pytest.mark.parametrize("trade_side", sorted({trade_side for trade_side, *_ in ALL_CASES}))
@pytest.mark.parametrize(("side", "mode"), [*(("upwards", mode) for mode in MODES), ("buy", "quantum_mode")])
def test_a_side_or_mode_nobody_knows_leaves_it_unknown(trade_side: str, side: str, mode: str) -> None:
    received = fill(side, trade_side, "1", mode=mode)
    names_leg = trade_side in SYSTEM_WORDS_OF_HEDGE_MODE and mode in ("", PositionMode.HEDGE)
    in_table = f"-{trade_side.rpartition('_')[2][0].upper()}" if names_leg else "?"
    assert (in_ledger(received), in_positions(received), in_tables(received)) == ("?", "?", in_table)
