"""Staying within the exchange's limits, together with every other process of the user.

In it: the limiter (a permit returns one second after its reply), quotas, the file shared between processes, and the
calls of the network address in one minute. It knows nothing of HTTP; signed calls take their permits here.
"""
