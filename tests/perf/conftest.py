"""Scripts, which `make perf` runs."""

collect_ignore_glob = ["*.py"]
