"""Stores files on this machine. Beside `wire` this is the ground floor, which every room may use."""
