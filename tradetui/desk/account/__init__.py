"""The account of a session, and its storage on this machine.

It has the account's identity (address, environment, UID), the accounts known from earlier sessions, and the opening of
the account's storage. It uses the archive and the settings; creation, lookups and the desk use it.
"""
