"""Text of numbers, units, methods and cells."""
