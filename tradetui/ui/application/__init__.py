"""The application: the profile that is open, the screens it opens, and what can be done from every screen.

`run_app` runs it in a terminal, `screenshot` without one. `lazy_imports` names what is imported only when it is opened;
`overlays/` is among it. No screen looks in here: it asks by `app_protocols`.
"""
