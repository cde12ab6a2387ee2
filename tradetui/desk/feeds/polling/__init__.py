"""How any record is read again and again: the feed, when it is due, what it last knew, and how the session fares.

`multi_product` joins the reads of several product types to one. It knows no record; every reader stands on it.
"""
