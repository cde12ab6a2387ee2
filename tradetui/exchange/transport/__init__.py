"""How one request reaches the exchange and its response comes back, over the network or inside this process.

`transport` is the protocol that the rest of `exchange` uses, `http` the one over the network, `in_process` the one to
an ASGI application; `base_url` checks addresses. Only `http` imports httpx.
"""
