"""The main screen: the header, the five panels, their layout, and the actions of its keys."""
