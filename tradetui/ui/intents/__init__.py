"""What the account is asked to do: reversals, creations, and the journal that holds the steps of both.

Every way to send something leads through this room. The application opens its screens and dialogs.
"""
