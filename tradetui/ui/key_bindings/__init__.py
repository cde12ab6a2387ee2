"""What is typed: the registry of key bindings behind help, footer, palette and README, the queue of keys, and a box."""
