"""The accounts of the embedded exchange: contracts, market, orders, triggers, positions, and their changes.

Every change balances: positions equal the sum of fills, equity equals balance plus unrealised profit. The package does
not know requests; the handlers and the exchange's state use it.
"""
