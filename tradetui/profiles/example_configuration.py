"""Makes the example configuration from the model of a profile: every setting with its meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import tomli_w
from pydantic import BaseModel, SecretStr

from tradetui.profiles.alert_entry import AlertRule
from tradetui.profiles.model import CredentialSource, Intervals, Profile

_EXAMPLES: Mapping[str, Any] = {
    "base_url": "https://api.bitget.com",
    "uid": "1234567890",
    "alert_command": ["notify-send", "tradetui"],
    "store": "service=desk",
    "machine": "desk1",
    "egress": "office",
    "max_reversal_size": 5,
    "max_reversal_value": 25000,
    "typed_above": 10000,
    "start_locked": True,
    "data_dir": "~/.local/share/tradetui",
    "symbols": ["BTCUSDT", "ETHUSDT"],
    "keys": {"reverse": "R", "poll_now": "u,f5"},
}
_OF_A_STORE = ("store", "machine", "egress")  # commented out, so that a copy of it starts without
_CREDENTIAL_EXAMPLES: Mapping[str, Any] = {
    "command": ["pass", "show", "exchange/main"],
    "path": "~/.config/tradetui/keys/main.toml",
}
ALERT_EXAMPLES: Sequence[Mapping[str, Any]] = (
    {"when": "fill", "to": ["line", "bell"]},
    {"when": "order_gone"},
    {"when": "trigger", "to": ["line", "bell", "desktop"], "name": "stops and take-profits"},
    {"when": "stop_cancelled", "to": ["line", "bell", "desktop"]},
    {"when": "margin_ratio_above", "percent": 80, "to": ["line", "bell", "desktop", "command"]},
    {"when": "liquidation_nearer", "percent": 5, "to": ["line", "bell", "desktop", "command"]},
    {"when": "position_result_below", "symbol": "BTCUSDT", "amount": -500},
    {"when": "today_result_below", "percent": -2, "to": ["line", "bell", "desktop"]},
    {"when": "price_crosses", "symbol": "BTCUSDT", "price": 90000, "direction": "up"},
    {"when": "link_lost"},
    {"when": "outcome_unknown", "to": ["line", "bell", "desktop", "command"]},
)
"""One alert of each kind."""


def example_text() -> str:
    """Return every key of the model with its meaning, ready to load."""
    lines = [
        "# tradetui configuration. Copy it to the path that `tradetui doctor` names and change what you need.",
        "# Every key a profile can have is here; only base_url has no default.",
        "",
        'default_profile = "main"',
        "",
        "[profiles.main]",
    ]
    lines += _settings(Profile, _EXAMPLES, tables=("credentials", "intervals", "keys", "alerts"))
    lines = [f"# {line}" if line.partition(" = ")[0] in _OF_A_STORE else line for line in lines]
    lines += ["", "[profiles.main.intervals]", *_settings(Intervals, {})]
    lines += ["", "# " + (Profile.model_fields["keys"].description or ""), "[profiles.main.keys]"]
    lines += [tomli_w.dumps({key: value}).rstrip() for key, value in _EXAMPLES["keys"].items()]
    lines += ["", "[profiles.main.credentials]", *_settings(CredentialSource, _CREDENTIAL_EXAMPLES)]
    lines += _alert_lines()
    return "\n".join(lines) + "\n"


def _settings(model: type[BaseModel], examples: Mapping[str, Any], tables: Collection[str] = ()) -> list[str]:
    """Write a model's settings, each with its example or its default; `tables` are left out."""
    lines: list[str] = []
    for name, field in model.model_fields.items():
        if name not in tables:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            lines += _entry(name, field.description, examples.get(name, default), default)
    return lines


def _alert_lines() -> list[str]:
    lines = ["", f"# {Profile.model_fields['alerts'].description}"]
    lines += [f"#   {name}: {field.description}" for name, field in AlertRule.model_fields.items()]
    for example in ALERT_EXAMPLES:
        lines += ["", "[[profiles.main.alerts]]"]
        lines += [_assignment(name, value) for name, value in example.items()]
    return lines


def _entry(name: str, description: str | None, value: Any, default: Any) -> list[str]:
    plain = list(value) if isinstance(value, tuple) else value
    if isinstance(plain, SecretStr):
        plain = plain.get_secret_value()
    comment = f"# {description}" + (" (not set by default)" if default is None and name != "base_url" else "")
    return ["", comment, _assignment(name, plain)]


def _assignment(name: str, value: Any) -> str:
    """Write `key = value` on one line; tomli-w puts each element of a list on a line of its own."""
    if isinstance(value, list):
        items = (tomli_w.dumps({"item": item}).rstrip().removeprefix("item = ") for item in value)
        return f"{name} = [{', '.join(items)}]"
    return tomli_w.dumps({name: value}).rstrip()
