"""``python -m benchmark.cli`` is ``bench``."""

from benchmark.cli import main

main()
