"""An account that is open as a session and a row of an overview keeps to its limits at the exchange, over loopback."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path

from tests.whole.exchange_thread import ExchangeThread
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.commands.session.overview_profiles import OverviewProfiles
from tradetui.profiles.load import Flags, load
from tradetui.wire.endpoints.catalogue import CATALOGUE

READS = 60
"""Of accounts, by session and row together: a dozen seconds."""


def configured(folder: Path, exchange: ExchangeThread) -> Path:
    """The configuration of two profiles; neither says its UID."""
    tables = []
    for key in exchange.sandbox.exchange_state.keys[:2]:
        key_file = folder / f"{key.name}.toml"
        secrets = {"api_key": key.api_key, "secret": key.secret, "passphrase": key.passphrase}
        key_file.write_text("".join(f'{name} = "{secret}"\n' for name, secret in secrets.items()))
        key_file.chmod(0o600)
        tables.append(
            f'[profiles.{key.name}]\nbase_url = "{exchange.base_url}"\ndata_dir = "{folder / "data"}"\n'
            f'credentials = {{ source = "file", path = "{key_file}" }}\n'
        )
    file = folder / "config.toml"
    file.write_text("\n".join(tables))
    return file


async def test_a_session_and_the_row_of_its_account_make_no_more_calls_in_a_second_than_one_account_may(
    tmp_path: Path,
) -> None:
    environ = {"TRADETUI_RUNTIME_DIR": str(tmp_path / "run"), "XDG_STATE_HOME": str(tmp_path / "state")}
    with ExchangeThread(limits=True) as exchange:
        flags = Flags(config=configured(tmp_path, exchange), profile="hedge")
        overview, desk = OverviewProfiles(environ, flags).overview(), OpenProfile(load(environ, flags)).desk()
        uid, calls, enough = exchange.sandbox.exchange_state.keys[0].uid, exchange.sandbox.calls, asyncio.Event()

        def count_reads(_: object = None) -> None:
            if sum(call.uid == uid and call.path.endswith("/accounts") for call in tuple(calls)) >= READS:
                enough.set()

        desk.subscribe(count_reads)
        overview.start()
        await desk.client.prepare()
        desk.start()
        async with asyncio.timeout(120):
            await enough.wait()
        rows = {row.name: row for row in overview.rows}
        await desk.stop()
        await overview.stop()
    assert rows["hedge"].equity is not None and not rows["hedge"].is_late
    assert desk.account is not None and rows["hedge"].uid == desk.account.uid
    assert not [call for call in calls if call.code == "429"]
    limits = {endpoint.path: endpoint.limit.calls for endpoint in CATALOGUE.values()}
    times = defaultdict(list)
    for call in calls:
        times[call.uid, call.path].append(call.at_ms)
    for (_, path), arrived_ms in times.items():
        assert max(sum(begin <= at_ms < begin + 1000 for at_ms in arrived_ms) for begin in arrived_ms) <= limits[path]
