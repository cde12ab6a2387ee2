"""Answers to requests: the rows of reads, the results of writes, and the rules each parameter is held to.

The rules are this side's own reading of the interface, held to the document by a table in the tests.
"""
