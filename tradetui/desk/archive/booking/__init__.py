"""What the ledger is made of: fills where they stand in time, closing orders, and the changes of the position mode.

The ledger looks in, and whoever reads its figures.
"""
