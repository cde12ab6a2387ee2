"""The lives are worth something: each mended fault, put back, breaks a promise in one of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.whole.lives.generate import plan_of
from tests.whole.lives.life import live
from tests.whole.lives.lives_mutations import MUTATIONS, Mutation
from tests.whole.lives.plan import Plan

LIVES = 300
"""Lives of which the campaign in `test_lives.py` shows that none breaks a promise without a fault."""


def plans_for(mutation: Mutation) -> Iterator[Plan]:
    """The lives that can show it, beginning with the one that did so last."""
    return (plan for plan in map(plan_of, (mutation.first_seed, *range(LIVES))) if mutation.shows(plan))


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_put_back_breaks_a_promise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation = MUTATIONS[name]
    mutation.put_back(monkeypatch.setattr)
    assert any(live(plan).broken for plan in plans_for(mutation)), f"{name} is not seen in {LIVES} lives"
