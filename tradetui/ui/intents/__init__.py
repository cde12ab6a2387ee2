"""Requests that change the account: reversals, creations, and the journal of the steps of both.

Every way to send something leads through this room. The application opens its screens and dialogs.
"""
