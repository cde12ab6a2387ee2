"""The terminal: its abilities, its mouse, and how it is restored when the program or the terminal itself ends.

It knows Textual and no screen of ours; the application and the settings look in.
"""
