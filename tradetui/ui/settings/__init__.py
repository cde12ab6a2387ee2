"""The settings of the screen, which commands build: a profile's, the choices made on the screen, themes, time zones."""
