"""The embedded exchange: the server side of the interface, with accounts, a moving market and faults."""
