"""Exit codes of every command."""

from __future__ import annotations

DONE = 0
REFUSED = 1
"""The exchange or the network refused."""
USAGE = 2
"""Usage or configuration."""
ATTENTION = 3
"""Something needs attention: an unsettled intent, a failed doctor line, unreadable rows, a symbol without fills."""
INTERRUPTED = 130
