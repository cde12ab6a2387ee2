"""Rows and columns of every table, without a screen."""
