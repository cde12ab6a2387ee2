"""What the plan says will be held is what the exchange holds afterwards, for generated accounts."""

from __future__ import annotations

import pytest

from tests.whole.reversal.reversal_cases import KINDS, LEAST_SHARE, check_cases


@pytest.mark.parametrize("core_only", [False, True], ids=["further endpoints", "core only"])
@pytest.mark.parametrize("one_way_size", ["honour", "ignore"])
def test_the_legs_of_the_plan_are_what_is_held_afterwards(core_only: bool, one_way_size: str) -> None:
    mix = check_cases(60, core_only=core_only, one_way_size=one_way_size)
    for kind in KINDS:
        print(f"{kind}: {mix[kind]} of {mix['all']}")  # noqa: T201
    rare = {kind: mix[kind] for kind in KINDS if mix[kind] < LEAST_SHARE * mix["all"]}
    assert not rare, f"too rare among {mix['all']}: {rare}"
