"""Screens that create sub-accounts and API keys: the form, the review, the result, the keys issued so far."""
