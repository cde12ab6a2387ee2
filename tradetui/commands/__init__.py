"""One file per command: it builds the objects that it needs and runs them."""
