"""Commands and the Python API: plan, compare, check, explain and export runs, and write pages and configurations."""
