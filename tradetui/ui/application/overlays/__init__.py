"""What opens over any screen: help, the command palette, the list of screens and the choice of the profile.

Nothing of it is imported before it is opened: `lazy_imports` alone does.
"""
