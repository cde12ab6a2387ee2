"""The titles of creations, and the sizes from which their dialogs have room for boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.desk.creation import Creation, CreationKind

ISSUED_KEYS: Final = "API keys you created"
TITLES: Final[Mapping[str, str]] = {
    "create-subaccounts": "Create sub-accounts with API keys",
    "create-broker-subaccount": "Create a broker sub-account",
    "create-copy-key": "Create the copy-trading key",
}
"""By the values of `CreationKind`."""
BREAKPOINTS: Final = [(0, "-short"), (44, "-roomy")]
"""Lines from which a dialog of this room has boxes and buttons with borders."""
WIDTHS: Final = [(0, "-narrow"), (80, "-wide")]  # cells from which every title of the form is whole


def choices(creation: Creation) -> list[str]:
    return [*(TITLES[kind] for kind in CreationKind if creation.offers(kind)), ISSUED_KEYS]
