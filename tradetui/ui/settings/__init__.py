"""How a person wants the screen: what a profile asks for, what was chosen on the screen, themes and time zones.

Commands build `ui_settings`; everything of the screen may look in.
"""
