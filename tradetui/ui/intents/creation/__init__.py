"""Screens that create sub-accounts and API keys: the form, the review, the result, the issued keys.

Others look in by `creation_form`, which opens them, and `titles`, which names them.
"""
