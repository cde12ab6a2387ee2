"""Staying within the exchange's limits, together with every other process of the user.

`budget` is what signed calls take permits from: `local_budget` within this process, or `shared_budget` with all of the
user's, by the file that `shared_budget_file` opens and `shared_permit_store` reads and writes. `endpoint_quota` tells
how many permits an endpoint has, `address_quota` counts the calls of the network address. None of it knows HTTP.
"""
