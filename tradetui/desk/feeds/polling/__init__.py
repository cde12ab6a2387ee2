"""Polls records of any kind: the feed, its schedule, its last snapshot, and the health of the session.

`multi_product` joins the reads of several product types. This room knows no kind of record; every reader builds on it.
"""
