"""How rows are read: tolerant, immutable, never without the row as it was received."""
