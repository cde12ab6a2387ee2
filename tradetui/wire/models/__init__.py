"""Rows of every endpoint, each with its request, whose docstring gives the endpoint's number in the interface."""
