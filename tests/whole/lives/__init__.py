"""Whole lives of the program against a second exchange that was written from the interface's documents alone.

A life is generated from a seed: the account, the trader's reversals, clocks that step, requests and replies that are
late or lost, orders that stay unfinished, kills and restarts. `promises` judges each life; `campaign` runs many of
them. Nothing here knows how the program or its embedded exchange understand the interface: only `process` imports
the program.
"""
