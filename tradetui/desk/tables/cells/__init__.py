"""Columns and the format of their text; imports no model."""
