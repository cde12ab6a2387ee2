"""The pages of archived rows, waited for until all that were asked for are in memory."""

from __future__ import annotations

import asyncio
from typing import Any

from tradetui.desk.archive.archive_rows import ArchiveRows


async def wait_for_pages(rows: ArchiveRows[Any]) -> None:
    """Return once the first reading of rows and every page under way have ended."""
    if rows._first_reading is not None:
        await rows._first_reading
    while rows._loading:
        await asyncio.gather(*rows._loading.values(), return_exceptions=True)
