"""The terminal: what it can show, who has its mouse, how little is drawn on it, and what a crash leaves there."""
