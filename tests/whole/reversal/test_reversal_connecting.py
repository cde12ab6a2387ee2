"""What happens while a reversal's connection is being made is seen before its first byte."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene
from tradetui.desk.intents.intents import JournalFault
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.sending import Departure
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.exchange.transport.transport import (
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    TransportError,
    TransportErrorKind,
)
from tradetui.storage.sqlite_file import FileLost
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)


def connecting(patch: pytest.MonkeyPatch, connect: Callable[[], Awaitable[object]]) -> None:
    """Let every write make a connection before it is sent."""
    send_in_process = InProcessTransport.send

    async def send(
        self: InProcessTransport, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None
    ) -> HttpResponse:
        if request.writes:
            await connect()
        return await send_in_process(self, request, before_first_byte)

    patch.setattr(InProcessTransport, "send", send)


async def refused(on: Scene, departure: Departure | None = None) -> str:
    """Confirm a reversal that is not sent; why."""
    preview = await on.execution.preview(LONG)
    with pytest.raises(NotConfirmed) as refusal:
        await on.execution.confirm(preview, preview.subject, departure)
    assert on.posts == 0
    (intent,) = on.journal.newest()
    assert [event.state for event in intent.events] == [State.INTENDED, State.WITHDRAWN]
    assert not on.execution.intents.unsettled()
    return str(refusal.value)


async def test_time_to_connect_makes_what_was_read_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        connecting(monkeypatch, lambda: asyncio.sleep(3.2))
        assert "3.2 s before sending, and 3 s is the limit" in await refused(on)


@pytest.mark.parametrize("written", [True, False])
async def test_trading_locked_while_connecting_is_not_sent(monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    async with scene() as on:
        on.hold(long="2")

        async def lock() -> None:
            is_written = on.execution.intents.set_lock(True)
            if written:
                await is_written

        connecting(monkeypatch, lock)
        assert "trading was locked before it was sent" in await refused(on)


async def test_locked_while_it_is_written_that_it_is_sent_it_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        write = Journal.step

        def locked_meanwhile(journal: Journal, intent: str, state: State, *details: Any, **prior: Any) -> None:
            if state is State.SENT:
                on.execution.intents.set_lock(True)
            write(journal, intent, state, *details, **prior)

        monkeypatch.setattr(Journal, "step", locked_meanwhile)
        preview = await on.execution.preview(LONG)
        with pytest.raises(NotConfirmed, match="trading was locked before it was sent"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0 and not on.execution.intents.unsettled()


async def test_a_journal_that_is_lost_while_connecting_is_said_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scene() as on:
        on.hold(long="2")

        async def lose() -> None:
            on.execution.intents._note_fault(JournalFault.UNREADABLE, FileLost("journal.sqlite", "it is gone"))

        connecting(monkeypatch, lose)
        preview = await on.execution.preview(LONG)
        with pytest.raises(NotConfirmed, match=r"^The journal cannot be used: .*it is gone"):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0


async def test_taken_back_while_connecting_it_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        departure = Departure()

        async def take_back() -> None:
            assert departure.withdraw("it was withdrawn"), "nothing has left"

        connecting(monkeypatch, take_back)
        assert "it was withdrawn" in await refused(on, departure)


async def test_taken_back_while_it_is_written_that_it_is_sent_it_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        departure, intents = Departure(), on.execution.intents
        about_to_send = intents.about_to_send

        async def taken_back_meanwhile(intent: str, details: Mapping[str, Any]) -> None:
            await about_to_send(intent, details)
            assert departure.withdraw("it was withdrawn"), "nothing has left"

        monkeypatch.setattr(intents, "about_to_send", taken_back_meanwhile)
        preview = await on.execution.preview(LONG)
        with pytest.raises(NotConfirmed, match="it was withdrawn"):
            await on.execution.confirm(preview, preview.subject, departure)
        assert on.posts == 0
        (intent,) = on.journal.newest()
        assert [event.state for event in intent.events] == [State.INTENDED, State.SENT, State.WITHDRAWN]
        assert not on.execution.intents.unsettled()


async def test_what_has_left_cannot_be_taken_back() -> None:
    async with scene() as on:
        on.hold(long="2")
        departure = Departure()
        preview = await on.execution.preview(LONG)
        sent = await on.execution.confirm(preview, preview.subject, departure)
        assert not departure.withdraw("it was withdrawn")
        *_, end = [progress async for progress in on.execution.follow(sent)]
        assert end.state is State.SETTLED
        assert on.posts == 1


async def test_no_connection_is_said_as_not_sent_and_leaves_the_symbol_free(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")

        async def fail() -> None:
            raise TransportError(TransportErrorKind.CONNECT, "no connection in time", sent=False)

        with monkeypatch.context() as broken:
            connecting(broken, fail)
            reason = await refused(on)
        assert "Nothing was sent: no connection in time" in reason
        assert "then try again" in reason
        progress = await on.reverse(LONG)
        assert progress[-1].state is State.SETTLED
        assert on.posts == 1
