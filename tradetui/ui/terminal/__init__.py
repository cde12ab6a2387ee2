"""The terminal: what it can show, its mouse, and how it is left when the program or the terminal itself ends.

It knows Textual and no screen of ours; the application and the settings look in.
"""
