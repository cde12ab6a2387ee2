"""The ledger counts each fill once: quarter-hours, closing orders and round trips, booked as fills are archived."""
