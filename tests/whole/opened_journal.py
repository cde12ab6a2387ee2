"""A desk's journal and archive, waited for until both are open."""

from __future__ import annotations

import asyncio

from tradetui.desk.archive.database import Archive
from tradetui.desk.desk import Desk


async def open_files_of(desk: Desk) -> None:
    """Have a desk that reads nothing else open its journal and then its archive; returns once both are open."""
    opened = asyncio.Event()

    async def attached(archive: Archive) -> None:
        opened.set()

    desk._attach = (*desk._attach, attached)
    desk.start(())
    async with asyncio.timeout(120):
        await opened.wait()
