"""Key bindings: the one registry that help, footer, palette, `tradetui keys` and the README are made from."""
