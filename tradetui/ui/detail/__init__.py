"""The screen of every field of one row, read and as received."""
