"""What each endpoint of the exchange is: its limit, its request, its rows, how it is paged, how its reply is read.

`catalogue` lists them, `reply` reads what they answer. Whoever calls or plays an endpoint looks in.
"""
