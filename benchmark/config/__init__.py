"""Configurations: their keys, their checks, and the cells that they define."""
