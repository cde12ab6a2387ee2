"""Requests and rows of every endpoint, one file an area; `futures_extended` is beyond the interface's thirteen."""
