# Two commands set everything up: `make run` and `make test`. Both make .venv from the lock file first.
PYTHON ?= python3
CONFIG ?= configs/quickstart.yaml
JSON ?= results/runs/perf.json
PREDICTED := all-methods-20ng simplex-20ng all-methods-webkb simplex-webkb simplex-r8 simplex-r52 simplex-modapte
BIN := .venv/bin
READY := .venv/.ready

.PHONY: run test lint types check predictions trials perf perf-scale docs reproduce-paper lock clean help

help:
	@echo "make run [CONFIG=configs/webkb.yaml]   run an experiment (default: the quickstart)"
	@echo "make test                              run the tests, on two cores"
	@echo "make lint | types                      ruff, import-linter | mypy, strict"
	@echo "make trials [SLICE=1]                  the slow tests, which try to break it"
	@echo "make check                             compare with the pinned numbers"
	@echo "make predictions                       pin again, with the labels on public test sets: results/predictions"
	@echo "make reproduce-paper                   all papers: results/REPRODUCTION.md"
	@echo "make docs                              docs/ as a site, in site/, and its pictures"
	@echo "make perf [JSON=perf.json]             what a user would pick instead, side by side, and plans"
	@echo "make perf-scale [LARGEST=100000]        how seconds and memory grow, to a million documents"
	@echo "make lock                              resolve the lock file afresh"

run: $(READY)
	$(BIN)/bench run $(CONFIG)

test: $(READY)
	$(BIN)/python -m pytest -rs -n 2 --dist loadfile --no-loadscope-reorder

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

check: $(READY)
	$(BIN)/bench check

# From the store where it has the results. Numbers that moved are pinned, too: see git diff.
predictions: $(READY)
	$(BIN)/bench check --update $(PREDICTED)

# How seconds grow is measured alone, after all others.
trials: $(READY)
	SLICE=$(SLICE) $(BIN)/python -m pytest -m slow -rs -n 2 --dist worksteal tests --ignore tests/trials/test_growth.py
	SLICE=$(SLICE) $(BIN)/python -m pytest -m slow tests/trials/test_growth.py

perf: $(READY)
	$(BIN)/python tests/perf/measure.py --json $(JSON)
	$(BIN)/python tests/perf/plans.py

perf-scale: $(READY)
	$(BIN)/python tests/perf/scale.py $(LARGEST)
	$(BIN)/python docs/pictures.py

docs: $(READY)
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reproduce-paper: $(READY)
	$(BIN)/bench reproduce

# The last line compiles the numba functions, once: later starts find them on disk.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -c 'import benchmark.experiment.run; from benchmark.system.numba_jit import compile_all; compile_all()'
	@touch $@

# Versions and hashes only: the file names no package index, so that each user's own is asked. Without the extra `perf`,
# whose threads (tbb) would change those of numba.
lock:
	uv pip compile --universal --python-version 3.11 --extra docs --extra test --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header pyproject.toml --output-file requirements.lock

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache results/runs site
