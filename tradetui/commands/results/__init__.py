"""`show pnl` and `show trips`: results for scripts, from the account's archive, which is read first where none is."""
