"""Screens: what fills the whole terminal."""
