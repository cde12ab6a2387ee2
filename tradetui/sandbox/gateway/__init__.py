"""Checks before a request is answered: signature, permissions, limits, and faults on demand."""
