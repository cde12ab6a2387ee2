"""Exit codes of every command."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
REFUSED: Final = 1
"""The exchange or the network refused."""
USAGE: Final = 2
"""Usage or configuration."""
ATTENTION: Final = 3
"""Something needs attention: an unsettled intent, a failed doctor line, unreadable rows."""
INTERRUPTED: Final = 130
