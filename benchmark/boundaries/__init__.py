"""Decision regions of support vector machines in two dimensions: generated points to plain arrays that can be drawn."""
