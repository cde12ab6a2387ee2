"""Between the application and the terminal: how it runs, ends, fails and is drawn without one.

`commands` run it; the application itself looks in for what is said of an unforeseen error.
"""
