"""Parses rows: tolerant, immutable, always with the row as received."""
