# Two commands set everything up: `make run` and `make test`. Both make .venv from the lock files first.
PYTHON ?= python3
CONFIG ?= configs/quickstart.yaml
JSON ?= results/runs/perf.json
PREDICTED := all-methods-20ng simplex-20ng tuned-20ng all-methods-webkb simplex-webkb tuned-webkb simplex-r8 simplex-r52 simplex-modapte
BIN := .venv/bin
READY := .venv/.ready
READY_TO_TEST := .venv/.ready-to-test
UV := $(shell command -v uv)
INSTALL = $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile)
COMPILE = $(or $(UV),uv) pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-header

# Where an image says that Python writes no byte code, each of hundreds of processes would compile all libraries again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint types check predictions trials perf perf-scale docs reproduce-paper far-prints lock clean help

help:
	@echo "make run [CONFIG=configs/webkb.yaml]   run an experiment (default: the quickstart)"
	@echo "make test                              run the tests, three at a time: they also wait"
	@echo "make lint | types                      ruff, import-linter | mypy, strict"
	@echo "make trials [PROFILE=many] [SEED=7]     the slow tests, which try to break it"
	@echo "make check                             compare with the pinned numbers"
	@echo "make predictions                       pin again, with the labels on public test sets: results/predictions"
	@echo "make reproduce-paper                   all papers: results/REPRODUCTION.md"
	@echo "make far-prints [UPDATE=--update]       what was tried on published values that ours are far from"
	@echo "make docs                              docs/ as a site, in site/, its pictures, and README's numbers"
	@echo "make perf [JSON=perf.json]             whole runs, and 20 Newsgroups by scikit-learn"
	@echo "make perf-scale [LARGEST=1000000]      how seconds and memory grow, to 300,000 documents"
	@echo "make lock                              resolve the lock files afresh"

run: $(READY)
	$(BIN)/bench run $(CONFIG)

test: $(READY_TO_TEST)
	$(BIN)/python -m pytest -rs -n 3 --dist loadfile --no-loadscope-reorder

lint: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY_TO_TEST)
	$(BIN)/mypy

check: $(READY)
	$(BIN)/bench check

# From the store where it has the results. Numbers that moved are pinned, too: see git diff.
predictions: $(READY)
	$(BIN)/bench check --update $(PREDICTED)

# The files that have slow tests: to collect all of tests/ takes each process 20 seconds.
trials: SLOW = tests/trials $(shell grep -rl slow tests --include='test_*.py' --exclude-dir=trials)
trials: $(READY_TO_TEST)
	$(BIN)/python -m pytest -m slow -rs -n 3 --dist worksteal --hypothesis-profile=$(or $(PROFILE),default) \
		--hypothesis-seed=$(or $(SEED),0) $(SLOW)

perf: $(READY_TO_TEST)
	$(BIN)/python tests/perf/measure.py $(JSON)
	$(BIN)/python tests/perf/stages.py

perf-scale: $(READY_TO_TEST)
	$(BIN)/python tests/perf/scale.py $(LARGEST)
	$(BIN)/python docs/pictures.py

docs: $(READY_TO_TEST)
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/readme.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reproduce-paper: $(READY)
	$(BIN)/bench reproduce

# half an hour of processor time from an empty store
far-prints: $(READY)
	$(BIN)/python -m tests.far_prints $(UPDATE)

# What a run needs. uv is used where it is on the path: `make UV= run` does without. A run compiles the numba functions that
# it needs, once: later starts find them on disk.
$(READY): requirements.lock pyproject.toml benchmark/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 ..."; exit 1; }
	@command -v $(CXX) > /dev/null || { echo "A C++ compiler is needed, since LIBSVM comes as source: install g++, or name one: make CXX=clang++ ..."; exit 1; }
	$(if $(UV),$(UV) venv --quiet --seed --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" --clear .venv,$(PYTHON) -m venv .venv)
	$(INSTALL) --no-deps --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --editable .
	@touch $@

# What tests and documents need beside it. The last line compiles all numba functions, so that no two tests do.
$(READY_TO_TEST): $(READY) requirements-test.lock
	$(INSTALL) --no-deps --require-hashes -r requirements-test.lock
	$(BIN)/python -c 'import benchmark.experiment.run; from benchmark.system.numba_jit import compile_all; compile_all()'
	@touch $@

# Versions and hashes only: the files name no package index, so that each user's own is asked. A package that a run needs
# on every system is in the first file alone.
lock:
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --output-file requirements-test.lock --extra docs --extra test --constraint requirements.lock \
		$$(sed -n 's/^\([a-z0-9.-]*\)==[^ ;]* \\$$/--no-emit-package \1/p' requirements.lock)

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache results/runs site
