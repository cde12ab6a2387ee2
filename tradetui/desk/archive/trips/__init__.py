"""Round trips beyond their fills: what opened and closed them, and their funding."""
