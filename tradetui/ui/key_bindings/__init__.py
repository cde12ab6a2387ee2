"""Key bindings: the one registry behind help, footer, palette, `tradetui keys` and the README."""
