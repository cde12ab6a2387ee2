"""A reversal from its preview to its settled outcome.

In it: fresh reads, the preview, the pre-trade checks, the sending, and `tracking`, which follows it to its end.
It looks at feeds and intents; the screen and `tradetui preview` look in.
"""
