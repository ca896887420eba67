"""Data that figures draw: curves and decision regions."""
