"""The data of one life: what is drawn from its seed, so that it can be replayed, and made smaller part by part."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class ReplyKind(StrEnum):
    """What comes back from a reversal request."""

    OK = "ok"
    LATE = "late"
    LOST = "lost"
    BROKEN = "connection broken"
    NO_CONNECTION = "no connection"
    SYSTEM_CODE = "system code"
    SERVER_ERROR = "5xx"
    GARBLED = "garbled"
    FOREIGN = "another clientOid"
    NO_CLIENT_OID = "no clientOid"
    ABSURD_TIME = "requestTime of 400 digits"
    LIMITED = "429"
    REFUSED = "refused"


REFUSING = frozenset({ReplyKind.LIMITED, ReplyKind.REFUSED, ReplyKind.NO_CONNECTION})
"""The order is certainly not taken."""
BY_THE_GATEWAY = frozenset({ReplyKind.SYSTEM_CODE, ReplyKind.SERVER_ERROR, ReplyKind.GARBLED, ReplyKind.FOREIGN})
"""Answered at once, whenever the request itself goes on to the exchange."""


class Leg(StrEnum):
    """Which half of a reversal a step fills."""

    CLOSE = "close"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class FillStep:
    """So many seconds after it was accepted, a share of one half of the order fills."""

    after_s: float
    leg: Leg
    share: Decimal


@dataclass(frozen=True, slots=True)
class Matching:
    """How an accepted reversal fills, and when it ends; what is not filled by then is cancelled.

    `lies` makes order detail say that the order is filled from its first fill on, though a second order follows.
    """

    name: str
    fills: tuple[FillStep, ...]
    ends_after_s: float
    lies: bool = False


class IdOn(StrEnum):
    """Which order of a reversal the exchange puts our clientOid on; the reply names the same one."""

    ONE_ORDER = "the one order that closes and opens"
    OPENING_ORDER = "the opening one of two orders"
    NO_ORDER = "none: only the reply names the order"


class ClockOf(StrEnum):
    """Whose wall clock steps."""

    MACHINE = "machine"
    EXCHANGE = "exchange"


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A clock steps by `by_s` and back again after `for_s` (never where None)."""

    at_s: float
    clock: ClockOf
    by_s: float
    for_s: float | None
    machine: int = 0


@dataclass(frozen=True, slots=True)
class PostFate:
    """What becomes of one reversal request: when it arrives (None: never), what comes back, how it is filled.

    `steps` are clock steps by seconds after its departure.
    """

    arrives_after_s: float | None
    reply: ReplyKind
    matching: Matching
    steps: tuple[ClockStep, ...] = ()


class ReadFaultKind(StrEnum):
    """What is wrong with a read."""

    LOST = "read lost"
    BROKEN = "read broken"
    SERVER_ERROR = "read 5xx"
    LIMITED = "read 429"
    NOT_JSON = "read not JSON"
    TRUNCATED = "read truncated"
    ABSURD = "read with numbers of 400 digits"
    HOLES = "read with null, empty or missing fields"
    FALSE_SIZES = "read with false sizes of new fills"


@dataclass(frozen=True, slots=True)
class ReadFault:
    """From `at_s` for `for_s` a share of the reads of one endpoint (all where empty) go wrong."""

    at_s: float
    for_s: float
    endpoint: str
    kind: ReadFaultKind
    share: float


@dataclass(frozen=True, slots=True)
class StrangerTrade:
    """Somebody else of the account trades: a leg grows, or shrinks where `size` is negative."""

    at_s: float
    symbol: str
    long: bool
    size: Decimal


class ActKind(StrEnum):
    """What the trader or fate does to a process."""

    REVERSE = "reverse"
    RELEASE = "release"
    KILL = "kill"
    STOP = "stop"
    REBOOT = "reboot"
    LOCK = "lock"
    DAMAGE = "damage"
    SUSPEND = "suspend"


class Damage(StrEnum):
    """What happens to the journal while no process of the data directory runs."""

    DELETED = "journal deleted"
    EMPTIED = "journal emptied"
    FLIPPED = "journal byte flipped"


@dataclass(frozen=True, slots=True)
class Act:
    """One deed at a time of the life; `who` is the process.

    A reversal is looked at for `looked_s` before it is confirmed. `kill_step` kills the process at that step of its
    tasks, counted from the confirmation, or from when `kill_state` stands in its journal. A process that was ended is
    started again after `pause_s`, and one that was suspended goes on.
    """

    at_s: float
    kind: ActKind
    who: int = 0
    looked_s: float = 0.8
    side_long: bool = True
    size: Decimal | None = None
    kill_step: int | None = None
    kill_state: str = ""
    pause_s: float = 1.0
    damage: Damage | None = None


class StoreFaultKind(StrEnum):
    """What happens to the store that several machines share, or to one machine's way to it."""

    CUT = "store: connection reset"
    SWALLOWED = "store: silent"
    SLOW = "store: slow"
    REPLIES_LOST = "store: replies lost"
    RESTARTED = "store: restarted"
    RESTORED = "store: restored from an older copy"


@dataclass(frozen=True, slots=True)
class StoreFault:
    """From `at_s` for `for_s` the way of one machine is faulty; a restored copy is `for_s` old."""

    at_s: float
    for_s: float
    kind: StoreFaultKind
    machine: int


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """Under which names one process knows the account, and the machine it runs on."""

    base_url: str
    data_dir: str
    tells_uid: bool
    profile_uid: bool
    machine: int = 0


@dataclass(frozen=True, slots=True)
class UnknownValues:
    """Words of the exchange that nobody knows, in the place of known ones; empty where none."""

    hold_side: str = ""
    end_state: str = ""
    trade_side: str = ""
    position_mode: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One life. Sizes in the base coin, times in seconds of the life."""

    seed: int
    hedge: bool
    core_only: bool
    long: Decimal
    short: Decimal
    ignores_one_way_size: bool
    shows_pending: bool
    processes: tuple[ProcessPlan, ...]
    acts: tuple[Act, ...]
    posts: tuple[PostFate, ...]
    clock_steps: tuple[ClockStep, ...] = ()
    read_faults: tuple[ReadFault, ...] = ()
    strangers: tuple[StrangerTrade, ...] = ()
    store_faults: tuple[StoreFault, ...] = ()
    spelling: UnknownValues = field(default_factory=UnknownValues)
    position_lag_s: float = 0.0
    detail_lag_s: float = 0.0
    fill_lag_s: float = 0.0
    lag_flaps: bool = False
    disk_slow_share: float = 0.0
    id_on: IdOn = IdOn.ONE_ORDER
    lists_ended: bool = False
    weather_ends_s: float = 120.0
