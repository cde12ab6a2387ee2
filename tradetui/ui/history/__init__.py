"""The screen of every fill or trigger ever seen, from the archive."""
