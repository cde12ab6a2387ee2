"""The terminal: what it can show, how little is drawn on it, and what a crash leaves there."""
