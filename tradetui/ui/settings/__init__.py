"""The settings of the screen, which commands build: those of a profile, choices on the screen, themes, time zones."""
