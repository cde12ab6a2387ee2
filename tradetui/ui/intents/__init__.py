"""Requests that change the account: reversals, creations, and the journal of the steps of both.

Every request that changes the account starts in this package. The application opens its screens and dialogs.
"""
