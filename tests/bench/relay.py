"""A relay on loopback that holds everything back for half a round trip, each way.

    python -m tests.bench.relay PORT ROUND_TRIP_MS

prints its own port.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from tests.bench.loopback import listen


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    last = None
    while data := await reader.read(1 << 16):
        last = loop.call_later(delay_s, writer.write, data)
    if last is not None:
        await asyncio.sleep(max(0.0, last.when() - loop.time()) + 0.001)
    with suppress(OSError):
        writer.close()


async def serve(port: int, delay_s: float) -> None:
    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(OSError):
            await asyncio.gather(pipe(reader, inner_writer, delay_s), pipe(inner_reader, writer, delay_s))

    listening = listen()
    print(listening.getsockname()[1], flush=True)
    async with await asyncio.start_server(accepted, sock=listening) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 2000))
