"""Summaries to tables, figures, files, and the reproduction page."""
