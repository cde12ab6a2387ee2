"""The settings of the screen: a profile's, the choices made on the screen, themes and time zones.

Commands build `ui_settings`; everything of the screen may look in.
"""
