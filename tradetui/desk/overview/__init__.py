"""Several accounts at once: a row for each, read again and again, and sums; nothing here can send."""
