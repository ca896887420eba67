"""Data that figures draw: curves, regions, and their labels."""
