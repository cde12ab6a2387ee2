"""The endpoints of the exchange: limit, request, rows, paging, and the reading of the reply.

`catalogue` lists them, `reply` reads what they answer. Whoever calls or plays an endpoint looks in.
"""
