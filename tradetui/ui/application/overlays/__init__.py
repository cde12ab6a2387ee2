"""Screens that open over any other: help, command palette, list of screens and choice of profile.

Only `lazy_imports` imports them, when they are opened.
"""
