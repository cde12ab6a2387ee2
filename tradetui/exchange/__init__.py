"""The client of the exchange: signed calls, rate budget, clock offset, errors. Knows HTTP, but nothing of trading."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradetui.exchange.client import ExchangeClient, ExchangeReader, TradingClient
    from tradetui.exchange.clock import LoopClock, SystemClock
    from tradetui.exchange.credentials import Credentials
    from tradetui.exchange.errors import (
        AuthenticationFailed,
        Busy,
        ClassicAccount,
        EndpointMissing,
        ExchangeError,
        InvalidRequest,
        NotSent,
        OutcomeUnknown,
        PermissionRefused,
        RateLimited,
        Rejected,
        UnifiedAccount,
        Unreachable,
        UnreadableReply,
    )
    from tradetui.exchange.rate_limit.budget import Budget, Priority
    from tradetui.exchange.transport.proxy import InvalidProxy, Proxy, parse_proxy
    from tradetui.exchange.transport.transport import Timeouts
    from tradetui.exchange.unified import Interface
    from tradetui.wire.endpoints.reply import Reply
    from tradetui.wire.models.subaccounts import VirtualSubaccountRequest

__all__ = [
    "AuthenticationFailed",
    "Budget",
    "Busy",
    "ClassicAccount",
    "Credentials",
    "EndpointMissing",
    "ExchangeClient",
    "ExchangeError",
    "ExchangeReader",
    "Interface",
    "InvalidProxy",
    "InvalidRequest",
    "LoopClock",
    "NotSent",
    "OutcomeUnknown",
    "PermissionRefused",
    "Priority",
    "Proxy",
    "RateLimited",
    "Rejected",
    "Reply",
    "SystemClock",
    "Timeouts",
    "TradingClient",
    "UnifiedAccount",
    "Unreachable",
    "UnreadableReply",
    "VirtualSubaccountRequest",
    "parse_proxy",
]

_MODULES = {
    "client": ("ExchangeClient", "ExchangeReader", "TradingClient"),
    "clock": ("LoopClock", "SystemClock"),
    "credentials": ("Credentials",),
    "rate_limit.budget": ("Budget", "Priority"),
    "transport.proxy": ("InvalidProxy", "Proxy", "parse_proxy"),
    "transport.transport": ("Timeouts",),
    "unified": ("Interface",),
    ".wire.endpoints.reply": ("Reply",),
    ".wire.models.subaccounts": ("VirtualSubaccountRequest",),
}


def __getattr__(name: str) -> object:
    """Load a name on first use, so that importing an error class alone does not load the models."""
    if name not in __all__:
        raise AttributeError(name)
    module = next((module for module, names in _MODULES.items() if name in names), "errors")
    return getattr(import_module(f".{module}", __name__), name)
