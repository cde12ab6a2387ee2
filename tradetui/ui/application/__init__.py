"""The application: the profile that is open, the screens it opens, and what can be done from every screen.

`run_app` runs it in a terminal, `screenshot` without one. `lazy_imports` names what is imported only when it is opened;
help, palette and the list of screens are among it. No screen looks in here: it asks by `app_protocols`.
"""
