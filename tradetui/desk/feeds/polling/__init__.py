"""Polls records of any kind: the feed, its schedule, its last snapshot, and the health of the session.

`multi_product` joins the reads of several product types to one. It knows no record; every reader stands on it.
"""
