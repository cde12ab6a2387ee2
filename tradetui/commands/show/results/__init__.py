"""`show pnl`, `show trips` and `show equity`: results for scripts, from the account's archive."""
