"""Each fill counted once: quarter-hours, closing orders and round trips, booked as fills come into the archive."""
