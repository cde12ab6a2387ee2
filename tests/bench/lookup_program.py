"""The whole program on an embedded exchange whose account has a full lookup's worth of spot fills.

Run by `tests.bench.lookup_keys` as a program: python -m tests.bench.lookup_program
"""

from __future__ import annotations

import sys

from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk
from tradetui.desk.desk import Desk
from tradetui.desk.lookup.lookup import MOST_ROWS
from tradetui.sandbox.books.account import SpotHistory
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import run_app
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings


def open_desk() -> Desk:
    """A desk on an account that has as many fills as a lookup holds, and some."""
    sandbox = build_sandbox(7)
    sandbox.exchange_state.stands_still = True
    account = sandbox.exchange_state.account(sandbox.exchange_state.keys[0].uid)
    newest, past = 2 * 10**18, account.make_spot_history()
    many = [
        {**past.fills[index % len(past.fills)], "tradeId": str(newest - index), "cTime": past.fills[0]["cTime"]}
        for index in range(MOST_ROWS + 500)
    ]
    account.make_spot_history = lambda: SpotHistory(many, past.bills)
    return open_demo_desk(sandbox, "hedge", read_only=True)


if __name__ == "__main__":
    sys.exit(run_app(TradeApp(UiSettings("SANDBOX", "MONITOR", [ProfileChoice("hedge", open_desk)]))))
