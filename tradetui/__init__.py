"""A terminal for futures traders: accounts, positions, orders, fills and triggers live, and a previewed reversal."""

__version__ = "0.1.0"
