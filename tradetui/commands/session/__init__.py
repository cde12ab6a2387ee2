"""What commands make of a profile: the client, the desk, the trading session, and the files both keep.

Commands that open an account look in.
"""
