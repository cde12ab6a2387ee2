"""Keeps within the exchange's limits, together with every other process of the user.

Signed calls take permits from `budget`. It claims them from a `permit_store`, in this process's memory or in the
`permit_file` of all processes, by the rules of `quota`. None of it knows HTTP.
"""
