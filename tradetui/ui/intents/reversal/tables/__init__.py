"""What the reversal dialog shows: its tables of legs, costs and risks, orders, the request, and the outcome."""
