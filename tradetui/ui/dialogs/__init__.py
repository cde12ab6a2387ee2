"""Dialogs: each a modal screen of one idea."""
