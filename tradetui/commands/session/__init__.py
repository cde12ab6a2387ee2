"""Builds client, desk, trading session and their files from a profile, for commands that open an account."""
