"""The reversal dialog: what it shows before anything is sent, and what became of it."""
