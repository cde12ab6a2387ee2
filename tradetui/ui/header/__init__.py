"""The header bar: a widget that the first paint needs, and its content of a session."""
