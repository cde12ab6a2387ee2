"""The way between a process and the second exchange: what is late, lost or spoilt on it, decided by the plan."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from tests.whole.lives.books import Books, trade_time_ms
from tests.whole.lives.clocks import ExchangeClock, WallClock
from tests.whole.lives.exchange import REVERSAL_PATH, Request, Response, SecondExchange
from tests.whole.lives.plan import (
    BY_THE_GATEWAY,
    ClockOf,
    ClockStep,
    FillStep,
    Leg,
    Matching,
    Plan,
    PostFate,
    ReadFault,
    ReadFaultKind,
    ReplyKind,
)

READ_TIME_OUT_S = 5.0
WRITE_TIME_OUT_S = 10.0
ABSURD, FALSE_SIZE = "9" * 400, "0.999999999999"
_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
PLAIN = PostFate(
    0.05,
    ReplyKind.OK,
    Matching("full", (FillStep(0.1, Leg.CLOSE, Decimal(1)), FillStep(0.15, Leg.OPEN, Decimal(1))), 1.0),
)


class NoResponse(Exception):
    """No response comes; `timed_out` says that it was waited for to the end."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("no response")
        self.timed_out = timed_out


@dataclass(slots=True)
class Post:
    """One reversal request that left a process. Times in seconds of the life."""

    number: int
    process: int
    confirmation: int
    client_oid: str
    symbol: str
    stamp_ms: int
    body: dict[str, Any]
    departed_at_s: float
    fate: PostFate
    ended_at_s: float | None = None
    arrived_at_s: float | None = None
    judged: str = ""
    reply_code: str = ""
    events: list[str] = field(default_factory=list)

    @property
    def still_to_arrive(self) -> bool:
        """Whether it is under way and will come to the exchange."""
        return self.fate.arrives_after_s is not None and self.arrived_at_s is None


class Network:
    """Carries requests; the world goes on by timers of the loop, so that it outlives the process that asked."""

    def __init__(self, plan: Plan, fill_lag_s: Callable[[], float]) -> None:
        self.plan = plan
        self.walls = [WallClock()]
        """The wall clock of each machine."""
        self.posts: list[Post] = []
        self.hits: Counter[str] = Counter()
        self.healed = False
        self.departs: Callable[[Post], None] = lambda post: None
        self.has_read: Callable[[Request, list[dict[str, Any]], int], None] = lambda request, rows, process: None
        self.books = Books(hedge=plan.hedge, fill_lag_s=fill_lag_s)
        self.clock = ExchangeClock(self._settled_since_s)
        self.exchange = SecondExchange(plan, self.books, self.clock)
        self._random = Random(f"{plan.seed}/network")
        self._fates = list(plan.posts)

    def _settled_since_s(self) -> float | None:
        under_way = [post for post in self.posts if post.still_to_arrive and post.ended_at_s is not None]
        ended = [post.ended_at_s for post in under_way if post.ended_at_s is not None]
        return min(ended) + ExchangeClock.LEAST_AGE_S if ended else None

    # Clocks

    def step_clock(self, step: ClockStep) -> None:
        """Step a clock now, and back when its time is over."""
        self.hits[f"{step.clock} clock steps"] += 1
        self._step(step, step.by_s)
        if step.for_s is not None:
            asyncio.get_running_loop().call_later(step.for_s, self._step, step, -step.by_s)

    def _step(self, step: ClockStep, by_s: float) -> None:
        if self.healed:
            return
        if step.clock is ClockOf.MACHINE:
            self.walls[step.machine].step(round(by_s * 1000))
            return
        self._step_exchange(by_s)

    def _step_exchange(self, by_s: float) -> None:
        self.clock.now_ms()  # learns the highest so far
        self.clock.wall.step(round(by_s * 1000))
        self.clock.now_ms()

    def heal(self) -> None:
        """The weather is over: clocks are right again, nothing is late, what is unfinished is cancelled."""
        for wall in self.walls:
            wall.step(-wall.offset_ms)
        self._step_exchange(-self.clock.wall.offset_ms / 1000)
        self.healed = self.exchange.healed = True
        self.books.end_all()

    # Requests

    async def send(self, request: Request, process: int, *, tells_uid: bool, confirmation: int) -> tuple[int, bytes]:
        """Carry a request; raises NoResponse."""
        if request.method == "POST":
            return await self._post(request, process, confirmation)
        await asyncio.sleep(self._random.uniform(0.005, 0.03))
        fault = None if self.healed else self._fault_of(request)
        if fault is not None and fault.kind in (ReadFaultKind.LOST, ReadFaultKind.BROKEN):
            timed_out = fault.kind is ReadFaultKind.LOST
            await asyncio.sleep(READ_TIME_OUT_S if timed_out else 0.2)
            raise NoResponse(timed_out=timed_out)
        response = self.exchange.handle(request, tells_uid=tells_uid)
        await asyncio.sleep(self._random.uniform(0.005, 0.03))
        if fault is None and response.status == 200:
            self.has_read(request, _rows_of(response.envelope), process)
        return self._spoilt(response, fault)

    def _fault_of(self, request: Request) -> ReadFault | None:
        now_s = asyncio.get_running_loop().time()
        for fault in self.plan.read_faults:
            if not fault.at_s <= now_s < fault.at_s + fault.for_s or fault.endpoint not in request.path:
                continue
            if self._random.random() < fault.share:
                self.hits[fault.kind] += 1
                return fault
        return None

    def _spoilt(self, response: Response, fault: ReadFault | None) -> tuple[int, bytes]:
        envelope = response.envelope
        if fault is None:
            return response.status, _bytes(envelope)
        match fault.kind:
            case ReadFaultKind.SERVER_ERROR:
                return 502, b"<html>Bad Gateway</html>"
            case ReadFaultKind.LIMITED:
                return 429, _bytes({"code": "429", "msg": "Too Many Requests", "requestTime": 0, "data": None})
            case ReadFaultKind.NOT_JSON:
                return 200, b"<!doctype html><title>maintenance</title>"
            case ReadFaultKind.TRUNCATED:
                whole = _bytes(envelope)
                return response.status, whole[: self._random.randrange(len(whole))]
            case ReadFaultKind.ABSURD:
                return response.status, _absurd(envelope, self._random, first_sent_ms=self._first_sent_ms(0.0))
            case ReadFaultKind.HOLES:
                return response.status, _bytes(_holes(envelope, self._random))
            case ReadFaultKind.FALSE_SIZES:
                since_ms = self._first_sent_ms(fault.at_s)
                for row in _rows_of(envelope):
                    if int(row.get("cTime", 0)) >= since_ms:
                        row["baseVolume"] = FALSE_SIZE
                return response.status, _bytes(envelope)
        raise AssertionError(fault.kind)

    def _first_sent_ms(self, since_s: float) -> float:
        """When the first reversal left that was taken or will be, at the earliest `since_s`; infinite if none did.

        Nobody can know what is held if the size of an older fill was false only once.
        """
        taken = (post for post in self.posts if post.still_to_arrive or post.client_oid in self.books.reversals)
        first = next(taken, None)
        return math.inf if first is None else trade_time_ms(max(since_s, first.departed_at_s))

    # Reversals

    def is_unconnected(self, request: Request) -> bool:
        """Whether a reversal finds no connection now. It counts as one that never left."""
        if request.method != "POST" or self.healed or self._next_fate().reply is not ReplyKind.NO_CONNECTION:
            return False
        self.hits[f"reply {ReplyKind.NO_CONNECTION}"] += 1
        self._fates.pop(0)
        return True

    def _next_fate(self) -> PostFate:
        return self._fates[0] if self._fates and not self.healed else PLAIN

    async def _post(self, request: Request, process: int, confirmation: int) -> tuple[int, bytes]:
        loop = asyncio.get_running_loop()
        body = json.loads(request.body)
        number = len(self.posts)
        fate = self._next_fate()
        del self._fates[:1]
        headers = {name.lower(): value for name, value in request.headers.items()}
        post = Post(
            number,
            process,
            confirmation,
            str(body.get("clientOid", "")),
            str(body.get("symbol", "")),
            int(headers["access-timestamp"]),
            body,
            loop.time(),
            fate,
        )
        assert request.path == REVERSAL_PATH, request.path
        self.posts.append(post)
        self.departs(post)
        self.hits[f"reply {fate.reply}"] += 1
        self.hits[f"matching {fate.matching.name}"] += 1
        for step in fate.steps:
            loop.call_later(step.at_s, self.step_clock, step)
        answered: asyncio.Future[tuple[int, bytes]] = loop.create_future()
        # A dead process still has a call that ends, as far as others can know.
        loop.call_later(WRITE_TIME_OUT_S, self._ended, post)
        if fate.arrives_after_s is not None:
            loop.call_later(max(0.0, fate.arrives_after_s), self._arrives, post, request, answered)
        if fate.reply in BY_THE_GATEWAY:
            loop.call_later(0.2, self._answer, answered, self._gateway(post))
        try:
            async with asyncio.timeout(WRITE_TIME_OUT_S):
                status, reply = await answered
        except TimeoutError:
            raise NoResponse(timed_out=True) from None
        finally:
            self._ended(post)
        if fate.reply is ReplyKind.BROKEN:
            raise NoResponse(timed_out=False)
        post.reply_code = str(status)
        return status, reply

    def end_calls_of(self, process: int) -> None:
        """A process is dead: its calls are over."""
        for post in self.posts:
            if post.process == process:
                self._ended(post)

    def _ended(self, post: Post) -> None:
        if post.ended_at_s is None:
            post.ended_at_s = asyncio.get_running_loop().time()

    def _arrives(self, post: Post, request: Request, answered: asyncio.Future[tuple[int, bytes]]) -> None:
        post.arrived_at_s = asyncio.get_running_loop().time()
        fate = post.fate
        if post.arrived_at_s - post.departed_at_s > WRITE_TIME_OUT_S:
            self.hits["request arrives after the time-out"] += 1
        match fate.reply:
            case ReplyKind.LIMITED:
                self._answer(answered, (429, _bytes({"code": "429", "msg": "Too Many Requests", "data": None})))
                post.judged = "429"
                return
            case ReplyKind.REFUSED:
                response = self.exchange.refusal("40762", "The order amount exceeds the balance")
                post.judged = "40762"
                self._answer(answered, (response.status, _bytes(response.envelope)))
                return
        response = self.exchange.reverse(request, PLAIN.matching if self.healed else fate.matching)
        post.judged = str(response.envelope["code"])
        if fate.reply in BY_THE_GATEWAY or fate.reply is ReplyKind.LOST:
            return
        data = response.envelope["data"]
        if isinstance(data, dict):
            if fate.reply is ReplyKind.NO_CLIENT_OID:
                data["clientOid"] = "" if post.number % 2 else None
            if fate.reply is ReplyKind.ABSURD_TIME:
                whole = _bytes(response.envelope | {"requestTime": "absurd"}).replace(b'"absurd"', ABSURD.encode())
                self._answer(answered, (response.status, whole))
                return
        delay_s = 4.0 if fate.reply is ReplyKind.LATE else 0.03
        asyncio.get_running_loop().call_later(
            delay_s, self._answer, answered, (response.status, _bytes(response.envelope))
        )

    def _gateway(self, post: Post) -> tuple[int, bytes]:
        match post.fate.reply:
            case ReplyKind.SYSTEM_CODE:
                code = ("40010", "40015", "40725", "45001")[post.number % 4]
                return 400, _bytes({"code": code, "msg": "", "requestTime": self.clock.now_ms(), "data": None})
            case ReplyKind.SERVER_ERROR:
                return 503, b'{"message":"failure to get a peer from the ring-balancer"}'
            case ReplyKind.FOREIGN:
                data = {"orderId": "1399999999999999999", "clientOid": "somebody-else"}
                return 200, _bytes(self.exchange.success(data).envelope)
        return 200, b'{"code":"00000","msg":"succ'

    def _answer(self, answered: asyncio.Future[tuple[int, bytes]], reply: tuple[int, bytes]) -> None:
        if not answered.done():
            answered.set_result(reply)


def _bytes(envelope: Any) -> bytes:
    return _COMPACT(envelope).encode()


def _rows_of(envelope: dict[str, Any]) -> list[dict[str, Any]]:
    data = envelope.get("data")
    if isinstance(data, dict):
        listed = next((value for value in data.values() if isinstance(value, list)), None)
        return [data] if listed is None else listed
    return data if isinstance(data, list) else []


_TIMES = ("cTime", "uTime", "ts", "serverTime")
_SIZES = ("total", "baseVolume", "size", "available", "openPriceAvg", "price", "markPrice", "leverage")


def _absurd(envelope: dict[str, Any], random: Random, *, first_sent_ms: float) -> bytes:
    """Numbers no field can mean, as JSON numbers or text, and one that is well written and wrong.

    The sizes of a position and of a fill before `first_sent_ms` are never that one: nobody could know what is held.
    """
    choice = random.randrange(3)
    if choice:
        names = _TIMES if choice == 1 else _SIZES
        text = random.choice((ABSURD, "1e999999", f"-{ABSURD}", FALSE_SIZE))
        for row in _rows_of(envelope):
            is_old_fill = "tradeId" in row and int(row["cTime"]) < first_sent_ms
            kept = {"total", "baseVolume"} if is_old_fill else {"total"}
            for name in names:
                if name in row and random.random() < 0.5 and (name not in kept or text != FALSE_SIZE):
                    row[name] = text
        return _bytes(envelope)
    return _bytes(envelope | {"requestTime": "absurd"}).replace(b'"absurd"', ABSURD.encode())


_NEEDED = ("tradeId", "orderId", "symbol", "holdSide", "total", "baseVolume", "side", "state", "status", "userId")


def _holes(envelope: dict[str, Any], random: Random) -> dict[str, Any]:
    """Some optional fields null, empty or missing."""
    for row in _rows_of(envelope):
        for name in [name for name in row if name not in _NEEDED and name not in ("posMode", "tradeSide", "cTime")]:
            match random.randrange(6):
                case 0:
                    row[name] = None
                case 1:
                    row[name] = ""
                case 2:
                    del row[name]
    return envelope
