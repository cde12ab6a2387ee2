"""The screen, on Textual: an application that opens screens, the screens, and what these are made of.

It shows what a desk hands it and does no network or disk work of its own. Commands look in by `application.run_app` and
by `settings`; `safe_text` is the only way for a text to reach the screen.
"""
