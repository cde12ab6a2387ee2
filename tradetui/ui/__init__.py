"""The screen: app, panels, dialogs, the record table, themes and keys."""
