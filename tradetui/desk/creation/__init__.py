"""The one way a sub-account or an API key is created: reviewed, journalled, sent once, kept before it is shown.

In it: the kinds, the form's rules, the sending, the matching of issued keys to what was requested, the key store.
It looks at intents and at how reversals are sent; only the desk and the screen look in.
"""
