"""A terminal for futures traders."""
