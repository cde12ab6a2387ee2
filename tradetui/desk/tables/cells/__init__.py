"""Columns and the format of their text; nothing here imports a model."""
