"""The main screen: the header, the five panels, how they share a terminal's size, and what their keys do."""
