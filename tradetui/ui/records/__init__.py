"""Screens of records beyond the panels: one row in full, all archived rows, and lookups.

The application opens the three screens; no other package uses them.
"""
