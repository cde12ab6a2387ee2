"""The lives of several machines are worth something: a part of the shared account left out breaks a promise in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.whole.lives.life import live
from tests.whole.lives.network import PLAIN
from tests.whole.lives.plan import Act, ActKind, Plan, ReplyKind, StoreFault, StoreFaultKind
from tests.whole.lives.shared_life import SharedLife
from tests.whole.lives.test_shared_lives import CONFIRMED_S, two_machines
from tradetui.desk.intents.shared_account import SharedAccount

REVERSAL = Act(CONFIRMED_S, ActKind.REVERSE, 0, side_long=True)


async def nothing(*_: object, **__: object) -> None:
    """What a part that is left out does."""


async def nothing_was_written(*_: object) -> bool:
    return False


def restored_while_unknown() -> Plan:
    """Anna's request is under way for long; the store goes back to before it, and Bob reverses too."""
    late = replace(PLAIN, arrives_after_s=25.0, reply=ReplyKind.LOST)
    restored = StoreFault(CONFIRMED_S + 4.0, 5.0, StoreFaultKind.RESTORED, 0)
    bob = replace(REVERSAL, who=1, at_s=CONFIRMED_S + 14.0)
    return two_machines(REVERSAL, bob, store_faults=(restored,), posts=(late, PLAIN, PLAIN, PLAIN))


def locked() -> Plan:
    return two_machines(Act(CONFIRMED_S, ActKind.LOCK, 0, pause_s=5.0))


LEFT_OUT: Mapping[str, tuple[Mapping[str, Callable[..., Any]], Callable[[], Plan]]] = {
    "sent is not in the store": ({"write_sent": nothing}, lambda: two_machines(REVERSAL)),
    "steps are not told": ({"_level": nothing_was_written}, lambda: two_machines(REVERSAL)),
    "a lock is not told": ({"_tell_lock": nothing}, locked),
    "nobody objects to an older copy": ({"_check_mark": nothing, "_object": nothing}, restored_while_unknown),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_part_left_out_breaks_a_promise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, plan_of = LEFT_OUT[name]
    whole = live(plan_of(), SharedLife)
    assert not whole.broken, "\n".join((*whole.trace, *whole.broken))
    for method, left_out in parts.items():
        monkeypatch.setattr(SharedAccount, method, left_out)
    assert live(plan_of(), SharedLife).broken, f"{name} is not seen"
