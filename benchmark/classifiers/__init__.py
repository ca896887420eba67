"""Gram matrices or points to predictions."""
