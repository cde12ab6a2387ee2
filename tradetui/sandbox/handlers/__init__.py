"""Answers requests: the rows of reads, the results of writes, and the rules of each parameter.

The rules are a separate reading of the interface; a table in the tests checks them against the document.
"""
