"""The endpoints of the exchange: limits, requests, rows, paging, and the parsing of replies.

`catalogue` lists the endpoints, `reply` parses their replies. The client and the sandbox use both.
"""
