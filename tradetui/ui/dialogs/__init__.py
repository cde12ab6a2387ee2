"""Dialogs, each a modal screen of one idea, and the box for a line of text that they and filters have."""
