"""Trials are no tests: `make trials` makes them."""

collect_ignore_glob = ["[!t]*.py", "trial.py"]
