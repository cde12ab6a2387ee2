"""What feeds write to the archive: rows wait for a disk that is full, and a minute has one sample of equity."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from tests.desk.fixtures.exchange_rows import fill
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, samples
from tradetui.desk.feeds.archive_writing import WriteBuffer
from tradetui.desk.feeds.orders import EquitySampler
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesAccount

BOTH = (USDT, COIN)


async def test_what_a_full_disk_refuses_is_kept_until_it_takes_it(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    archive.connection.execute("PRAGMA max_page_count=1")
    write_buffer = WriteBuffer(FuturesFill, InlineDisk())
    await write_buffer.open(archive)
    await write_buffer.put([ProductRow(USDT, fill(number)) for number in range(2_000)])
    assert write_buffer.trouble is not None
    assert "full" in write_buffer.trouble
    archive.connection.execute("PRAGMA max_page_count=1000000")
    await write_buffer.put([ProductRow(USDT, fill(2_000))])
    assert write_buffer.trouble is None
    assert archive.rows.count(Selection(FuturesFill)) == 2_001


def account(equity: str) -> FuturesAccount:
    return FuturesAccount.from_row(
        {"marginCoin": "USDT", "accountEquity": equity, "usdtEquity": equity, "unrealizedPL": "-1"}
    )


async def test_a_minute_has_one_sample_whoever_takes_it() -> None:
    archive = Archive(None)
    first, second = EquitySampler(BOTH, InlineDisk()), EquitySampler(BOTH[::-1], InlineDisk())
    start = NOW_MS // SAMPLED_EVERY_MS * SAMPLED_EVERY_MS
    await first.take([account("1")], start - SAMPLED_EVERY_MS)
    await first.take([account("2")], start - SAMPLED_EVERY_MS + 1)
    for sampler in (first, second):
        await sampler.attach(archive)
    for second_of_hour in range(0, 180, 20):
        for sampler in (first, second):
            await sampler.take([account(str(second_of_hour))], start + second_of_hour * 1000)
    kept = list(samples(archive.connection, BOTH, 0, NOW_MS * 2))
    assert [(sample.time - start, sample.equity) for sample in kept] == [
        (1 - SAMPLED_EVERY_MS, Decimal(2)),
        (0, Decimal(0)),
        (60_000, Decimal(60)),
        (120_000, Decimal(120)),
    ]
    assert list(samples(archive.connection, (USDT,), 0, NOW_MS * 2)) == []
    await first.take([], start + 10 * SAMPLED_EVERY_MS)
    assert len(list(samples(archive.connection, BOTH, 0, NOW_MS * 2))) == 4, "no account, no sample"
