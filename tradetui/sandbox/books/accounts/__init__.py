"""What one account of the embedded exchange holds: wallets, positions, margin, bills and positions that were closed.

It knows orders and contracts, not how they are executed; execution changes it, and rows show it.
"""
