"""Dialogs, each a modal screen for one purpose."""
