"""The header bar: a widget that the first paint needs, and what it says of a session."""
