"""Scripts, which `make perf` runs, and the corpora they make."""

collect_ignore_glob = ["*.py"]
