"""One account of the embedded exchange: wallets, positions, margin, bills and closed positions.

It knows orders and contracts, not how they are executed; execution changes it, and rows show it.
"""
