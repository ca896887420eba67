"""Published values and claims of papers: reading, judging, counting verdicts."""
