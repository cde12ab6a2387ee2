"""Keys and typed text: the registry behind help, footer, palette and manual, the queue of keys, and a text box."""
