"""The ninety days before the start, and what goes on by itself afterwards.

In it: the backfill of fills and triggers, the wallets' records, the trader who trades once a second.
"""
