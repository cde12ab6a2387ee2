"""Requests are strict: each parameter is checked by its rule before anything is sent."""
