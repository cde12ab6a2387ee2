"""The screen, on Textual: the application, its screens, and their parts.

It shows a desk and does no network or disk work of its own. Commands look in by `application.run_app` and by
`settings`; `safe_text` is the only way for a text to reach the screen.
"""
