"""Three machines on one account with a real store, while connections, server and sessions fail.

Twenty seeds of a minute: python -m tests.bench.machines
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.whole.machines.trial import LEG, SIZE, Session, Trial, older_copy, raged, trial_of

SHORT_S = 10.0


@pytest.mark.parametrize("seed", (101, 102))
def test_while_everything_fails_nothing_is_sent_twice_and_no_step_is_lost(tmp_path: Path, seed: int) -> None:
    raged(seed, tmp_path, SHORT_S)


def sends_nothing(trial: Trial, session: Session) -> None:
    """See the older copy noticed, and a reversal withheld for it."""
    trial.wait("the older copy is noticed", lambda: "went back" in (session.shows["trouble"] or ""))
    session.do("reverse", leg=LEG, size=SIZE)
    trial.wait("nothing is sent", lambda: session.count("withheld") > 0)


def accept(trial: Trial, session: Session) -> None:
    """Accept the older copy, which locks trading."""
    session.do("accept")
    trial.wait("it is accepted", lambda: session.count("accepted") > 0 and session.shows["locked"])


def test_a_store_restored_from_an_older_copy_sends_nothing_until_a_person_has_looked(tmp_path: Path) -> None:
    with trial_of(103, tmp_path) as trial, trial.running(machines=2, sessions=1):
        anna, bob = trial.sessions
        with older_copy(trial.store.cluster):
            trial.wait("the store is back", lambda: anna.is_free and bob.is_free)
            trial.reverse_until_sent(anna)
            trial.wait("it is settled, and lost in the older copy", lambda: anna.count("ended") > 0)
            trial.exchange.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
            trial.reverse_until_sent(anna)
            trial.wait("its reply is lost", lambda: anna.count("sent") == 2)
        for session in (anna, bob):
            sends_nothing(trial, session)
        assert len(trial.exchange.reversals) == 2, bob.reports
        for session in (anna, bob):
            accept(trial, session)
        for session in (anna, bob):
            session.do("lock", locked=False)
        trial.wait("nobody locks", lambda: not any(session.shows["locked"] for session in (anna, bob)))
        trial.wait("both are free", lambda: anna.is_free and bob.is_free)
        trial.reverse_until_sent(bob)
        assert len(trial.exchange.reversals) == 3
        trial.calm_down()
        trial.judge()
