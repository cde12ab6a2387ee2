"""A broker's sub-accounts: their deposits and withdrawals, and their e-mail."""

from typing import Annotated, ClassVar

from tradetui.wire.enums import TransferType, same
from tradetui.wire.exchange_time import DAY_MS, NINETY_DAYS_MS, Ends, Missing, TimeRule
from tradetui.wire.replies.field_types import DecimalFigure, IdText, UtcTime
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Count, OlderThan, Shaped, Time, Word
from tradetui.wire.requests.request import Request, TimedRequest

LIVE_WITHDRAWAL = "withdrawal"
"""The live exchange's spelling of `withdrawl`."""


class SubaccountTransfer(Record):
    """A deposit or withdrawal of a sub-account; a transfer between two of them is a row of each."""

    identity: ClassVar[tuple[str, ...]] = ("tx_id", "uid")

    uid: IdText
    tx_id: IdText
    coin: str
    type: str | None = None
    sub_type: str | None = None
    amount: DecimalFigure
    status: str | None = None
    ts: UtcTime | None = None

    @property
    def is_withdrawal(self) -> bool:
        """Whether money left, in either spelling."""
        return same(self.type, TransferType.WITHDRAWAL) or same(self.type, LIVE_WITHDRAWAL)


class TransfersRequest(TimedRequest[SubaccountTransfer]):
    """Endpoint 4: deposits and withdrawals of sub-accounts, at most 7 days of the last 90.

    Both ends or neither; neither is the previous day (UTC). `idLessThan` 1, its default, is the first page.
    """

    time_rule: ClassVar[TimeRule | None] = TimeRule(
        span_ms=7 * DAY_MS,
        both=Ends.BOTH_OR_NEITHER,
        missing=Missing.PREVIOUS_DAY,
        window_ms=NINETY_DAYS_MS,
        span_text="7 days",
    )

    start_time: Time = None
    end_time: Time = None
    limit: Annotated[int | None, Count(capped=True)] = None
    id_less_than: OlderThan = None
    type: Annotated[
        str | None,
        Word(
            rule="all, deposit or withdrawl",
            choices=("all", TransferType.DEPOSIT, TransferType.WITHDRAWAL),
            alternatives={TransferType.WITHDRAWAL.value: LIVE_WITHDRAWAL},
        ),
    ] = None


class SubaccountEmail(Record):
    """The e-mail of a sub-account."""

    identity: ClassVar[tuple[str, ...]] = ("sub_uid",)

    sub_uid: IdText
    subaccount_name: str | None = None
    subaccount_email: str | None = None
    c_time: UtcTime | None = None
    u_time: UtcTime | None = None


class SubaccountEmailRequest(Request[SubaccountEmail]):
    """Endpoint 10: the e-mail of a sub-account."""

    sub_uid: Annotated[
        str,
        Shaped(
            required=True, rule="a sub-account's UID", pattern=r"[0-9]+", remedy="Give its digits, such as 4200000001."
        ),
    ]
