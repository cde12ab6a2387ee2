"""Records that are looked up rather than watched: spot, converts, transfers, e-mail."""
