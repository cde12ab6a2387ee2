"""The terminal: what it can show, who has its mouse, how little is drawn on it, and what a crash leaves there.

It knows Textual and no screen of ours; the application, the settings and the bases of screens look in.
"""
