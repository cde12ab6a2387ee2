"""Carries one request to the exchange and its response back, over the network or within this process.

`transport` is the protocol that the rest of `exchange` uses, and checks base URLs. `http` works over the network and
alone imports httpx; `in_process` calls an ASGI application.
"""
