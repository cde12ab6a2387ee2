"""Reads the futures accounts' bills into the archive in the background: the newest now and then, the past by pieces.

They are beyond the interface: where the exchange does not offer them, funding and transfers are unknown, and nothing
else depends on them.
"""
