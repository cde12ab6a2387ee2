"""The accounts of the embedded exchange: contracts, market, orders, triggers, positions, and how they change.

Every change balances: positions equal the sum of fills, equity equals balance plus unrealised profit.
It knows nothing of requests; the endpoints and the exchange's state look in.
"""
