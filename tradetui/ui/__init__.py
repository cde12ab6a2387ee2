"""The screen, on Textual: the application, its screens, and their parts.

It shows a desk and does no network or disk work of its own. Commands use `application.run_app` and `settings`. Every
text reaches the screen through `safe_text`.
"""
