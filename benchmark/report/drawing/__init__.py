"""Vega-Lite specifications and image files of charts and summaries."""
