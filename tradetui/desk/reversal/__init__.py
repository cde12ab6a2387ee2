"""A reversal from its preview to its settled outcome.

In it: fresh reads, the preview, the pre-trade checks, the sending, the tracker that follows it until it is settled.
It looks at feeds and intents; the screen and `tradetui preview` look in.
"""
