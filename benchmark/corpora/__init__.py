"""Corpora: find or download them, verify them, and read their documents. Start at `registry`."""
