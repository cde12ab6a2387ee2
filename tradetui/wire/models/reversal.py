"""The reversal of a futures position: its request, checked by the rules of the position mode, and its reply."""

from decimal import Decimal
from typing import Annotated

from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.replies.field_types import IdText
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Amount, ProductTypeText, RequiredCoin, RequiredSymbol, Shaped, Word
from tradetui.wire.requests.request import Request


class ReversalResult(Record):
    """The exchange's reply to a reversal: ids, but no outcome."""

    identity = ("order_id",)

    order_id: IdText
    client_oid: str | None = None


class ReversalRequest(Request[ReversalResult]):
    """Endpoint 5: reverse a position.

    Hedge mode needs side (buy reverses the LONG, sell the SHORT), trade_side and size. In one-way mode leave out
    trade_side; without size the whole position is reversed.
    """

    symbol: RequiredSymbol
    margin_coin: RequiredCoin
    product_type: ProductTypeText
    size: Annotated[Decimal | None, Amount()] = None
    side: Annotated[str | None, Word(rule="buy or sell", choices=(Side.BUY, Side.SELL))] = None
    trade_side: Annotated[str | None, Word(rule="Open or Close", choices=("Open", "Close"), keeps_case=True)] = None
    client_oid: Annotated[
        str | None,
        Shaped(
            rule="at most 50 of 0-9 a-z A-Z - + _ #",
            pattern=r"[0-9A-Za-z\-+_#]{1,50}",
            remedy="Use at most 50 letters, digits and - + _ #.",
        ),
    ] = None

    def is_answered_by(self, row: ReversalResult) -> bool:
        """Whether the reply can be for this request: it names this request's client id or none."""
        return self.client_oid is None or not row.client_oid or row.client_oid == self.client_oid

    def check_mode(self, mode: PositionMode) -> None:
        """Check the request by the rules of the account's position mode, as above; raises InvalidRequest."""
        if mode is PositionMode.ONE_WAY:
            if self.trade_side is not None:
                raise InvalidRequest("tradeSide", "not given in one-way mode", self.trade_side, "Leave it out.")
            return
        if self.side is None:
            raise InvalidRequest(
                "side", "required in hedge mode", None, "Give buy to reverse the LONG, sell to reverse the SHORT."
            )
        if self.trade_side is None:
            # The interface also accepts Close; the exchange's own page names only Open, for either leg.
            raise InvalidRequest("tradeSide", "required in hedge mode", None, "Give Open.")
        if self.size is None:
            raise InvalidRequest("size", "required in hedge mode", None, "Give the position's size to reverse it all.")
