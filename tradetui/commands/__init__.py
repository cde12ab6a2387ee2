"""One file a command: each builds the objects it needs and runs them."""
