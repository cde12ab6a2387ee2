"""Reads rows: tolerant, immutable, always with the row as it was received."""
