"""A desk on the embedded exchange in this process."""

from __future__ import annotations

import asyncio

import pytest

from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk


def test_a_name_that_no_account_has_is_named() -> None:
    with pytest.raises(ValueError, match="no account 'hegde'"):
        open_demo_desk(build_sandbox(7), "hegde", read_only=True)


async def test_a_desk_that_may_send_stops_with_threads_for_its_disks() -> None:
    desk = open_demo_desk(build_sandbox(7), "hedge", read_only=False)
    desk.start()
    while desk.archive is None or desk.intents is None or desk.intents.trouble:  # noqa: ASYNC110 - as a person looks
        await asyncio.sleep(0.02)
    await desk.stop()
