"""The application: the open profile, its screens, and the actions of every screen.

`app` builds on `textual_app`; `run_app` runs it in a terminal, or without one for a picture. `palette` and
`manual_screen` are imported when opened. Screens do not import this package; they call it through `app_protocols`.
"""
