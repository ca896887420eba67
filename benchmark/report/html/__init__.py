"""A summary to one self-contained HTML page, with interactive pictures."""
