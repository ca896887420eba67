"""Sentences on a run, for pages, tables and terminals."""
