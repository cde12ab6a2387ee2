"""What the store's refusals and its silence mean for the trader, as sentences and as errors of the intents."""

from __future__ import annotations

from tradetui.desk.intents.journal.account_store import StoreLock, StoreRefusal, Writer, since
from tradetui.desk.intents.states import AlreadyOpen, Overtaken, Withheld
from tradetui.storage.postgres.errors import StoreAway, StoreRefused, grant


def may_only_view(person: str) -> str:
    """Say that a person is a viewer, and who can change that."""
    return (
        f"{person} may only view this account: nothing can be sent from here. "
        f"To trade, ask the owner of the store to run {grant(person)}."
    )


def _who(refused: StoreRefused) -> str:
    detail = refused.detail
    if "person" not in detail:
        return "somebody else"
    writer = str(Writer(str(detail["person"]), str(detail.get("machine", ""))))
    return f"{writer}, {since(float(detail['age_s']))}" if "age_s" in detail else writer


def sentence_of(problem: StoreAway | StoreRefused) -> str:
    if isinstance(problem, StoreAway):
        return f"The store did not answer ({problem.reason})."
    if problem.code == StoreRefusal.TRADING_LOCKED:
        writer = Writer(str(problem.detail["person"]), str(problem.detail["machine"]))
        return str(StoreLock(writer, float(problem.detail["age_s"])))
    if problem.code == StoreRefusal.ANOTHER_FOLLOWS:
        return f"It is looked after by {_who(problem)}."
    return f"The store refuses it: {problem}."


def begin_refused(refused: StoreRefused, scope: str) -> Exception:
    if refused.code == StoreRefusal.ALREADY_OPEN:
        detail = refused.detail
        return AlreadyOpen(str(detail.get("intent")), str(detail.get("state")), _who(refused))
    if refused.code == StoreRefusal.OVERTAKEN:
        return Overtaken(scope, _who(refused))
    return Withheld((sentence_of(refused),))
