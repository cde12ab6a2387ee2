"""Rows that outlive the exchange's window and the program: fills, stops, bills, equity, and the ledger of them."""
