"""Rows kept beyond the exchange's retention and this program's runs: fills, stops, bills, equity, and their ledger."""
