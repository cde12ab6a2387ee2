"""The proofs are worth something: each of ten mistakes in what keeps a reversal safe turns one of them red."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.whole.crashes.crash_cases import Case, loaded_program, rig
from tests.whole.crashes.kill_counter import AT_THE_POST, build
from tests.whole.injections.safety_mutations import MUTATIONS
from tests.whole.reversal.reversal_machine import ReversalMachine

SYNC = "the sync left out"
GENERATED = settings(
    max_examples=8,
    stateful_step_count=25,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
)
SEEDS = range(12)
"""Each is eight lives, always the same ones; the first three find every mistake, and the rest stand by."""


def test_there_are_ten() -> None:
    assert len(MUTATIONS) == 10


@pytest.mark.parametrize("name", [name for name in MUTATIONS if name != SYNC])
def test_events_in_any_order_find_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[name](monkeypatch.setattr)
    with pytest.raises(AssertionError, match="tt-"):
        for number in SEEDS:
            run_state_machine_as_test(seed(number)(type(name, (ReversalMachine,), {})), settings=GENERATED)


def test_a_power_cut_finds_it(tmp_path: Path) -> None:
    library = build(tmp_path)
    if library is None:
        pytest.skip("no C compiler (cc, gcc, clang) to build the counter that is preloaded")
    lost = pytest.raises(AssertionError, match="what was written before is lost")
    with loaded_program(library, tmp_path) as program, rig(program, tmp_path) as crashing, lost:
        crashing.run(Case("reverse", AT_THE_POST, "power", "none"), SYNC)
