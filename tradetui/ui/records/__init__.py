"""Screens of records beyond the panels: one row in full, every row that was ever seen, and what is looked up.

The application opens the three screens; nothing else looks in.
"""
