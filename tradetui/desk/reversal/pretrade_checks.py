"""All reasons not to send a reversal; checked when the dialog shows it and again when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.reversal.preview import EXPIRES_S, Preview
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.trading.estimates.cost_estimates import notional_coin
from tradetui.wire.models.public import Contract

REVERSAL = "futures.reverse"


@dataclass(frozen=True, slots=True)
class RiskContext:
    """The input of the checks beside the preview; `sends_nothing` is why the session sends nothing at all.

    `account_tag` names the account in the text to type; empty where the session knows one profile. `lockers` are the
    sentences on who has locked trading on every machine.
    """

    settings: DeskSettings
    connection_status: ConnectionStatus
    sends_nothing: tuple[SendsNothing, ...]
    open_intent: str | None
    journal_trouble: str | None
    now: float
    account_tag: str = ""
    store_trouble: str = ""
    lockers: str = ""
    unlocking_helps: bool = True


def blocking_reasons(preview: Preview, context: RiskContext, typed: str) -> tuple[str, ...]:
    """Return all reasons why confirming is disabled, in sentences; empty if it may be sent."""
    settings = context.settings
    store_reasons = [reason for reason in (context.store_trouble, context.lockers) if reason]
    reasons: list[str] = [*context.sends_nothing, *store_reasons]
    if store_reasons and not context.unlocking_helps:  # a dialog would say of the lock which key unlocks it
        reasons = [*store_reasons, *(reason for reason in context.sends_nothing if reason is not SendsNothing.LOCKED)]
    if context.journal_trouble:
        reasons.append(f"The journal cannot be used: {context.journal_trouble}")
    if context.open_intent:
        reasons.append(f"An earlier reversal of this symbol is not settled ({context.open_intent}).")
    reasons += preview.doubts
    plan = preview.plan
    if plan is None:
        return tuple(reasons) or ("There is nothing to reverse.",)
    if context.connection_status.down:
        reasons.append("The link to the exchange is down.")
    if context.connection_status.server_clock.blocks_writes:
        reasons.append("This machine's clock is more than 5 s from the exchange's; set it.")
    reasons += _budget_rules(context.connection_status)
    if settings.symbols and plan.params.symbol not in settings.symbols:
        reasons.append(f"{plan.params.symbol} is not among the profile's symbols: add it there to reverse it.")
    size = max(result.closed for result in plan.results)
    if settings.max_reversal_size is not None and size > settings.max_reversal_size:
        reasons.append(f"The size {size:,f} is above max_reversal_size {settings.max_reversal_size:,f}.")
    if settings.max_reversal_value is not None:
        if preview.notional is None:
            reasons.append("The value is not known, so it cannot be compared with max_reversal_value.")
        elif preview.notional > settings.max_reversal_value:
            limit = f"max_reversal_value {settings.max_reversal_value:,}"
            reasons.append(f"The value {preview.notional:,.2f} is above {limit}.")
    reasons += _contract_rules(plan.params.size, preview.contract)
    if preview.expired(context.now):
        reasons.append(f"The preview is older than {EXPIRES_S:.0f} s; it is being read again.")
    # If nothing can be sent, there is no field to type it in.
    can_type = not (context.sends_nothing or context.journal_trouble or context.store_trouble)
    required = required_text(plan.subject, context.account_tag)
    if can_type and typing_reason(preview, settings) and not is_typed(required, typed):
        reasons.append(f"Type {required} to go on.")
    return tuple(reasons)


def required_text(subject: str, account_tag: str) -> str:
    """Return the text to type: the position, then the account if the session knows several."""
    return f"{subject} {account_tag}".strip()


def is_typed(required: str, typed: str) -> bool:
    """Whether the typed text is the required one, ignoring case and extra spaces."""
    return typed.upper().split() == required.upper().split()


def typing_reason(preview: Preview, settings: DeskSettings) -> str:
    """Return why symbol and leg must be typed: uncertain, unproven, large, or LIVE without a maximum value."""
    plan = preview.plan
    if plan is None:
        return ""
    if plan.uncertain:
        return "two results are possible"
    if preview.unproven():
        return "the position is not proven"
    if settings.typed_above is not None and preview.notional is None:
        return f"its value is not known, and may be above your {settings.typed_above:,}"
    if settings.typed_above is not None and preview.notional is not None and preview.notional > settings.typed_above:
        coin = notional_coin(plan.params.product_type, preview.contract)
        return f"{preview.notional:,.2f} {coin} is above your {settings.typed_above:,}"
    if settings.environment is Environment.LIVE and settings.max_reversal_value is None:
        return "this is LIVE and max_reversal_value is not set"
    return ""


def _budget_rules(link: ConnectionStatus) -> list[str]:
    usage = link.budget.usage().get(REVERSAL)
    if usage is None or not usage.paused_s:
        return []
    return [f"The exchange asked for a pause; orders can be sent again in {usage.paused_s:.0f} s."]


def _contract_rules(size: Decimal | None, contract: Contract | None) -> list[str]:
    if contract is None:
        return []
    reasons = []
    if contract.trades is False:
        reasons.append(f"The contract's status is {contract.symbol_status}; orders are sent only while it is normal.")
    if size is None:
        return reasons
    if contract.min_trade_num is not None and size < contract.min_trade_num:
        reasons.append(f"The size must be at least {contract.min_trade_num}.")
    if contract.size_multiplier and not _is_multiple(size, contract.size_multiplier):
        reasons.append(f"The size must be a multiple of {contract.size_multiplier}.")
    return reasons


def _is_multiple(size: Decimal, step: Decimal) -> bool:
    try:
        return not size % step
    except InvalidOperation:  # a step so small that the quotient has too many digits
        return False
