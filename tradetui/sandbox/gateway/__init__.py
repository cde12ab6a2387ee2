"""Checks before a request is answered: signature, permissions, limits, and planned faults."""
