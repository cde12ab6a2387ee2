"""The endpoints in groups: one coroutine for each, and an iterator over pages for each paged one.

In it: futures, spot, convert, broker, creation, public. A group asks through the client's reads and writes alone.
"""
