"""A reversal from its preview to its settled outcome.

It has the fresh reads, the preview, the pre-trade checks, the sending, and `tracking`, which finds the outcome. It uses
feeds and intents; the screen and `tradetui preview` use it.
"""
