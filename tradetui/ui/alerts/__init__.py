"""Alerts on the screen: the line above the keys, the bell, the desktop through the terminal, and the screen `A`."""
