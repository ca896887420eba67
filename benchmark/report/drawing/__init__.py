"""From charts and summaries to pictures."""
