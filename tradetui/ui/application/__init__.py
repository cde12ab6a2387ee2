"""The application: the profile that is open, the screens it opens, and the actions of every screen.

`app` stands on `textual_app`; `run_app` runs it in a terminal, or for a picture without one. `palette` and
`manual_screen` are imported once they are opened. No screen looks in here: it calls by `app_protocols`.
"""
