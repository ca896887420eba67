"""Trials are no tests: `make trials` makes them."""

collect_ignore_glob = ["*.py"]
