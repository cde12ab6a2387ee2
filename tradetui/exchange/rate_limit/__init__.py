"""Staying within the exchange's limits, together with every other process of the user.

`budget` is what signed calls take permits from. It claims them from a `permit_store`, in this process's memory or in
the `permit_file` of all, by the rules of `quota`. None of it knows HTTP.
"""
