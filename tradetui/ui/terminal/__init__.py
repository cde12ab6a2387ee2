"""The terminal: its abilities, drawing as little as possible on it, and the report of a crash."""
