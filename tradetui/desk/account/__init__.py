"""The account of a session, and its storage on this machine.

In it: the identity (address, environment, UID), the accounts known from before, the opening of the account's storage.
It looks into the archive and the settings; creation, lookups and the desk itself look in.
"""
