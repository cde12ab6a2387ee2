"""What is typed: the registry of key bindings behind help, footer, palette and manual, the queue of keys, and a box."""
