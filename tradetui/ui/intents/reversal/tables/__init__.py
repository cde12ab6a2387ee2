"""The tables of the reversal dialog: legs, costs and risks, orders, the request, and the outcome."""
