"""How the application and its screens know each other: what either asks of the other, and what is to be opened.

Neither imports the other. Both look in here, and so does every dialog and widget.
"""
