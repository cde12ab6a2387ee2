"""The application: the profile that is open, the screens it opens, and the actions of every screen.

`app` stands on `textual_app`; `run_app` runs it in a terminal, `screenshot` without one. `lazy_imports` names the
modules that are imported when they are opened: `help`, `palette` and `navigation` here. No screen looks in here: it
calls by `app_protocols`.
"""
